// Peak rate of fused multiply-adds in @type@: @links@ links of every chain per round.

// Independent chains of fused multiply-adds. The factors are loaded from memory, so that they are in registers and
// unknown to the compiler.
KERNEL void fma_@type@(GLOBAL const @type@* RESTRICT constants, GLOBAL @type@* RESTRICT out, uint rounds) {
  const uint item = GLOBAL_ID(0);
  const @type@ b = constants[0];
  const @type@ c = constants[1];
  const @type@ start = (@type@)(item & 63u);
@chains@
  for (uint round = 0u; round < rounds; ++round) {
    UNROLL
    for (int link = 0; link < @links@; ++link) {
@products@
    }
  }
@stores@
}
