// Values that work-groups of one launch send each other through global memory, 16 bytes per access. A value whose bits
// are all set has not arrived, so the sender replaces a NaN with these bits by another NaN (MAIL_VALUE). Accesses with
// `on` = 0 do nothing; predicates take fewer instructions than branches. CUDA only.
#if defined(__CUDACC_RTC__) || defined(__CUDACC__)
FUNCTION uint MAIL_ARRIVED(float v) { return __float_as_uint(v) != 0xffffffffu; }
FUNCTION uint MAIL_ARRIVED(double v) { return __double_as_longlong(v) != -1; }
FUNCTION float MAIL_VALUE(float v) { return MAIL_ARRIVED(v) ? v : __uint_as_float(0x7fffffffu); }
FUNCTION double MAIL_VALUE(double v) { return MAIL_ARRIVED(v) ? v : __longlong_as_double(0x7fffffffffffffffL); }
FUNCTION void MAIL_SEND(float* p, const float* v, uint on) {
  asm volatile("{.reg .pred on; setp.ne.u32 on, %5, 0; @on st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};}" ::"l"(p),
               "f"(v[0]), "f"(v[1]), "f"(v[2]), "f"(v[3]), "r"(on)
               : "memory");
}
FUNCTION void MAIL_SEND(double* p, const double* v, uint on) {
  asm volatile("{.reg .pred on; setp.ne.u32 on, %3, 0; @on st.relaxed.gpu.global.v2.f64 [%0], {%1, %2};}" ::"l"(p), "d"(v[0]),
               "d"(v[1]), "r"(on)
               : "memory");
}
FUNCTION void MAIL_CLEAR(void* p, uint on) {
  asm volatile("{.reg .pred on; setp.ne.u32 on, %2, 0; @on st.relaxed.gpu.global.v4.s32 [%0], {%1, %1, %1, %1};}" ::"l"(p),
               "r"(-1), "r"(on)
               : "memory");
}
FUNCTION void MAIL_LOAD(const float* p, float* v, uint on) {
  asm volatile("{.reg .pred on; setp.ne.u32 on, %5, 0; @on ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];}"
               : "+f"(v[0]), "+f"(v[1]), "+f"(v[2]), "+f"(v[3])
               : "l"(p), "r"(on)
               : "memory");
}
FUNCTION void MAIL_LOAD(const double* p, double* v, uint on) {
  asm volatile("{.reg .pred on; setp.ne.u32 on, %3, 0; @on ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];}"
               : "+d"(v[0]), "+d"(v[1])
               : "l"(p), "r"(on)
               : "memory");
}
#define MAIL_FENCE() asm volatile("fence.acq_rel.gpu;" ::: "memory")
#define SUB_GROUP_ANY(condition) __any_sync(0xffffffffu, condition)
#endif
