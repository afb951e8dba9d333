// Delay-line words of `blocks`: bytes in offset binary (sign bits inverted). Here a word is one row of both polarizations.
#define OFFSET_BINARY(raw) ((raw) ^ 0x80808080u)
FUNCTION void convert_offset_binary(uint row, float* x) {
  x[0] = AS_FLOAT(PICK_BYTES(row, 0x4b000000u, 0x7440u)) - 8388736.0f;
  x[1] = AS_FLOAT(PICK_BYTES(row, 0x4b000000u, 0x7441u)) - 8388736.0f;
  x[2] = AS_FLOAT(PICK_BYTES(row, 0x4b000000u, 0x7442u)) - 8388736.0f;
  x[3] = AS_FLOAT(PICK_BYTES(row, 0x4b000000u, 0x7443u)) - 8388736.0f;
}
// Here a word is two rows of one polarization.
FUNCTION uint joined(raw_t older, raw_t newer) { return ((uint)older | (uint)newer << 16) ^ 0x80808080u; }
FUNCTION void convert_older(uint rows, float* x) {
  x[0] = AS_FLOAT(PICK_BYTES(rows, 0x4b000000u, 0x7440u)) - 8388736.0f;
  x[1] = AS_FLOAT(PICK_BYTES(rows, 0x4b000000u, 0x7441u)) - 8388736.0f;
}
FUNCTION void convert_newer(uint rows, float* x) {
  x[0] = AS_FLOAT(PICK_BYTES(rows, 0x4b000000u, 0x7442u)) - 8388736.0f;
  x[1] = AS_FLOAT(PICK_BYTES(rows, 0x4b000000u, 0x7443u)) - 8388736.0f;
}
