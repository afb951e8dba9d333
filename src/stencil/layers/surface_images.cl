// Sets the cells beyond a free surface to the mirror images of the cells below it, with the opposite sign.
KERNEL WORK_GROUP(64, 1, 1) void surface_images(GLOBAL CELL* grid, ulong first, ulong step, ulong other, int width,
                                                int rows, int surface) {
  const int x = (int)GLOBAL_ID(0), row = (int)GLOBAL_ID(1);
  if (x >= width || row >= rows) return;
  for (int k = 1; k <= surface; ++k) {
    const ulong cell = first + (ulong)row * other + x;
    grid[cell + (ulong)(surface - k) * step] = -grid[cell + (ulong)(surface + k) * step];
  }
}
