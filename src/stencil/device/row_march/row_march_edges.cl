// Fetches neighbours along x through local memory (part of row_march's text).
        BARRIER();
        UNROLL
        for (int k = 0; k < RADIUS_X; ++k) {
          edges[lane * 2 * RADIUS_X + k] = v[RADIUS_X + k];
          edges[lane * 2 * RADIUS_X + RADIUS_X + k] = v[CELLS + k];
        }
        BARRIER();
        UNROLL
        for (int k = 0; k < RADIUS_X; ++k) {
          v[k] = edges[(lane > 0 ? lane - 1 : 0) * 2 * RADIUS_X + RADIUS_X + k];
          v[RADIUS_X + CELLS + k] = edges[(lane < LANES - 1 ? lane + 1 : lane) * 2 * RADIUS_X + k];
        }
