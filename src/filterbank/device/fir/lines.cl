// Position of a point in a padded row, and the barrier for work-items of a sub-group that share rows.
#define PLACE(p) ((p) + (p) / 16)
#define dft1(v)
#if SUB_GROUP_WIDTH >= 32
#define SUB_GROUP_SYNC() SUB_GROUP_BARRIER()
#else
#define SUB_GROUP_SYNC() BARRIER()
#endif
