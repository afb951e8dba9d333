// Where a point of a line stands, and what lanes that share lines wait for.
#define PLACE(p) ((p) + (p) / 16)
#define dft1(v)
#if SUB_GROUP_WIDTH >= 32
#define LANES_WAIT() SUB_GROUP_BARRIER()
#else
#define LANES_WAIT() BARRIER()
#endif
