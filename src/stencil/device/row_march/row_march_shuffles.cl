// Fetches neighbours along x from other lanes by shuffles (part of row_march's text).
        UNROLL
        for (int k = 0; k < RADIUS_X; ++k) {
          v[k] = SHUFFLE_UP(v[CELLS + k], 1);
          v[RADIUS_X + CELLS + k] = SHUFFLE_DOWN(v[RADIUS_X + k], 1);
        }
