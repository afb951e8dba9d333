// Layers along x: tiles of rows of one plane pass through local memory, so that neighbouring work-items access
// neighbouring cells. A work-item computes @part@ cells of a row and holds the cells that they read in registers. Cells
// are copied @wide@ at a time. Memory variables (@local_arrays@, @tile_load@, @tile_store@) exist only for the cells of
// the band whose profiles are not all zero.

KERNEL WORK_GROUP(@items@, 1, 1) void @name@(GLOBAL CELL* grid, GLOBAL const CELL* RESTRICT media,
    GLOBAL const CELL* RESTRICT profiles, GLOBAL CELL* memories, GLOBAL const long* RESTRICT table,
    ulong newer, ulong older, ulong scale, ulong pitch, ulong plane, uint height, uint rows) {
  AFTER_PREVIOUS_KERNEL();
  LOCAL_ARRAY(@vector@, old_vectors, @rows@ * @cells@ / @wide@);
  LOCAL_ARRAY(@vector@, new_vectors, @rows@ * @band@ / @wide@);
  LOCAL_ARRAY(@vector@, scale_vectors, @rows@ * @band@ / @wide@);
  LOCAL CELL* const old_tile = (LOCAL CELL*)old_vectors;
  LOCAL CELL* const new_tile = (LOCAL CELL*)new_vectors;
  LOCAL CELL* const scale_tile = (LOCAL CELL*)scale_vectors;
@local_arrays@
  const int item = LOCAL_ID(0), first_row = (int)GROUP_ID(1) * @rows@, left = (int)height - first_row;
  const int tile_rows = left < @rows@ ? left : @rows@;
  GLOBAL const long* side = table + @numbers@ * (int)GROUP_ID(0);
  const int live_begin = (int)side[3], live_end = (int)side[4], live = live_end - live_begin;
  const ulong cell = (ulong)GROUP_ID(2) * plane + (ulong)first_row * pitch + (ulong)side[0];
  const ulong block = (ulong)rows * (ulong)live;
  GLOBAL CELL* memory = memories + side[1] + ((ulong)GROUP_ID(2) * height + (ulong)first_row) * (ulong)live;
  GLOBAL const CELL* profile = profiles + side[2] + @profile_begin@;
  UNROLL for (int i = item; i < @rows@ * @cells@ / @wide@; i += @items@) {
    const int row = i / (@cells@ / @wide@), column = i % (@cells@ / @wide@) * @wide@;
    if (row < tile_rows)
      old_vectors[i] =
          *(GLOBAL const @vector@*)(grid + older + cell + (ulong)row * pitch + (ulong)(long)(column - @radius@));
  }
  UNROLL for (int i = item; i < @rows@ * @band@ / @wide@; i += @items@) {
    const int row = i / (@band@ / @wide@), at = i % (@band@ / @wide@) * @wide@;
    if (row < tile_rows) {
      const ulong from = cell + (ulong)row * pitch + (ulong)at;
      new_vectors[i] = *(GLOBAL const @vector@*)(grid + newer + from);
      scale_vectors[i] = *(GLOBAL const @vector@*)(media + scale + from);
@tile_load@
    }
  }
  BARRIER();
  const int row = item / @parts@, begin = item % @parts@ * @part@, mine = row * @band@;
  CELL before[@window@];
  UNROLL for (int k = 0; k < @window@; ++k)
    before[k] = begin + k < @cells@ ? old_tile[row * @cells@ + begin + k] : (CELL)0;
@load@
  BARRIER();
  UNROLL for (int j = 0; j < @part@; ++j) {
    const int at = begin + j;
    if (at < @band@) {
@body@
      new_tile[mine + at] = @result@;
@store@
    }
  }
  BARRIER();
  UNROLL for (int i = item; i < @rows@ * @band@ / @wide@; i += @items@) {
    const int row = i / (@band@ / @wide@), at = i % (@band@ / @wide@) * @wide@;
    if (row < tile_rows) {
      *(GLOBAL @vector@*)(grid + newer + cell + (ulong)row * pitch + (ulong)at) = new_vectors[i];
@tile_store@
    }
  }
}
