// Named barriers between the two halves of a group of 512: one side arrives and continues, the other waits. CUDA only.
#define NAMED_BARRIER_ARRIVE(id) asm volatile("bar.arrive %0, 512;" ::"n"(id) : "memory")
#define NAMED_BARRIER_SYNC(id) asm volatile("bar.sync %0, 512;" ::"n"(id) : "memory")
#define ROWS_READY 1
#define ROWS_READ 2
#define LINES_FULL(half) (3 + half)
#define LINES_FREE(half) (5 + half)
