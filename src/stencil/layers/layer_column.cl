// Layers along z or y: a work-item computes one line of the layer. The new level, the scale and memory variables that
// only their own cell reads (@own_arrays@, @own_load@) are loaded for @block@ cells at once: a store may otherwise delay
// the loads after it. @load@ reads what neighbours need, @body@ computes a cell's values, @store@ its memory variables.

KERNEL WORK_GROUP(@items@, 1, 1) void @name@(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const CELL* RESTRICT profiles, GLOBAL CELL* memories, GLOBAL const long* RESTRICT table,
    ulong newer, ulong older, ulong scale, ulong step, ulong other_step, uint width, uint others) {
  AFTER_PREVIOUS_KERNEL();
  const uint item = (uint)GROUP_ID(0) * @items@u + (uint)LOCAL_ID(0);
  const uint other = item / width, x = item - other * width;
  if (other >= others) return;
  GLOBAL const long* side = table + @numbers@ * (int)GROUP_ID(1);
  const int live_begin = (int)side[3], live_end = (int)side[4];
  const ulong cell = (ulong)side[0] * step + (ulong)other * other_step + x;
  const ulong deep_step = (ulong)others * width, block = @band@ * deep_step;
  GLOBAL CELL* memory = memories + side[1] + item;
  GLOBAL const CELL* profile = profiles + side[2] + @profile_begin@;
  CELL before[@cells@];
  UNROLL for (int k = 0; k < @cells@; ++k) before[k] = grid[older + cell + (ulong)((long)(k - @radius@) * (long)step)];
@load@
  UNROLL for (int first = 0; first < @band@; first += @block@) {
    CELL fresh[@block@], scales[@block@]@own_arrays@;
    UNROLL for (int k = 0; k < @block@; ++k) {
      const int at = first + k;
      if (at >= @band@) continue;
      fresh[k] = grid[newer + cell + (ulong)at * step];
      scales[k] = media[scale + cell + (ulong)at * step];
@own_load@
    }
    UNROLL for (int k = 0; k < @block@; ++k) {
      const int at = first + k;
      if (at >= @band@) continue;
@body@
      grid[newer + cell + (ulong)at * step] = @result@;
      if (at >= live_begin && at < live_end) {
@store@
      }
    }
  }
}
