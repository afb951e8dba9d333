// Layers along z or y: a work-item computes one line of the layer, @block@ cells at a time. Arrays (@arrays@) hold what it
// reads; of long lines only the cells around the current ones are in registers. Values that neighbours read (@load@) are
// loaded @lead@ cells before those that are computed (@body@, @store@), own ones (@own_load@) with them: a store may
// otherwise delay the loads after it. @shared@ computes values that neighbours share.

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
  const @offset@ along = (@offset@)step, deep = (@offset@)deep_step;
  GLOBAL const CELL* const old_line = grid + older + cell;
  GLOBAL CELL* const new_line = grid + newer + cell;
  GLOBAL const CELL* const scale_line = media + scale + cell;
  GLOBAL CELL* memory = memories + side[1] + item;
  GLOBAL const CELL* profile = profiles + side[2] + @profile_begin@;
@arrays@
  UNROLL for (int first = -@lead@; first < @band@; first += @block@) {
    UNROLL for (int k = first + @lead@; k < first + @lead@ + @block@; ++k) {
      const int at = k - @radius@;
      if (k >= @cells@) continue;
      before[k] = old_line[at * along];
@load@
    }
    UNROLL for (int at = first; at < first + @block@; ++at) {
      if (at < 0 || at >= @band@) continue;
      fresh[at] = new_line[at * along];
      scales[at] = scale_line[at * along];
@own_load@
    }
@shared@
    UNROLL for (int at = first; at < first + @block@; ++at) {
      if (at < 0 || at >= @band@) continue;
@body@
      new_line[at * along] = @result@;
      if (at >= live_begin && at < live_end) {
@store@
      }
    }
  }
}
