// Part of layer_cells.cl: finds the side of the axis whose band the cell is in, and computes the layer there (@body@).

  {
    int at = @axis@ - (int)table[@first@];
    GLOBAL const long* layer = table + @first@;
    if (at < 0 || at >= (int)layer[1]) {
      layer += 5;
      at = @axis@ - (int)layer[0];
    }
    if (at >= 0 && at < (int)layer[1]) {
      const long deep = layer[1] + 2 * @radius@, grid_step = @grid_step@, stored_step = @stored_step@;
      const ulong block = (ulong)(@block@), stored = (ulong)(@stored@);
      GLOBAL const CELL* memory = memories + layer[2];
      GLOBAL const CELL* shared = shared_values + layer[3];
      GLOBAL const CELL* profile = profiles + layer[4] + at + @radius@;
      GLOBAL CELL* result = to + layer[@to@];
@body@
    }
  }
