// Copies between an array and a packed list of parts of it, each of `length` adjacent elements from place[part] on.

KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void gather(GLOBAL const PAIR* RESTRICT whole, GLOBAL PAIR* RESTRICT parts, GLOBAL const ulong* RESTRICT place, ulong length,
            ulong elements) {
  const ulong number = (ulong)GROUP_ID(0) * ITEMS_PER_GROUP + (ulong)LOCAL_ID(0);
  if (number < elements) parts[number] = whole[place[number / length] + number % length];
}

KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void scatter(GLOBAL const PAIR* RESTRICT parts, GLOBAL PAIR* RESTRICT whole, GLOBAL const ulong* RESTRICT place, ulong length,
             ulong elements) {
  const ulong number = (ulong)GROUP_ID(0) * ITEMS_PER_GROUP + (ulong)LOCAL_ID(0);
  if (number < elements) whole[place[number / length] + number % length] = parts[number];
}

// The same for modes of real grids, times a factor each. Negative factors also conjugate.
KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void take_modes(GLOBAL const PAIR* RESTRICT lines, GLOBAL PAIR* RESTRICT modes, GLOBAL const ulong* RESTRICT place,
                GLOBAL const NUMBER* RESTRICT factors, ulong count) {
  const ulong number = (ulong)GROUP_ID(0) * ITEMS_PER_GROUP + (ulong)LOCAL_ID(0);
  if (number >= count) return;
  PAIR value = lines[place[number]];
  const NUMBER factor = factors[number];
  value.x *= factor < 0 ? -factor : factor;
  value.y *= factor;
  modes[number] = value;
}

KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void put_modes(GLOBAL const PAIR* RESTRICT modes, GLOBAL PAIR* RESTRICT lines, GLOBAL const ulong* RESTRICT place,
               GLOBAL const NUMBER* RESTRICT factors, ulong count) {
  const ulong number = (ulong)GROUP_ID(0) * ITEMS_PER_GROUP + (ulong)LOCAL_ID(0);
  if (number >= count) return;
  PAIR value = modes[number];
  const NUMBER factor = factors[number];
  value.x *= factor < 0 ? -factor : factor;
  value.y *= factor;
  lines[place[number]] = value;
}

KERNEL WORK_GROUP(ITEMS_PER_GROUP, 1, 1)
void drop_imaginary(GLOBAL PAIR* values, ulong first, ulong count) {
  const ulong number = (ulong)GROUP_ID(0) * ITEMS_PER_GROUP + (ulong)LOCAL_ID(0);
  if (number < count) values[first + number].y = 0;
}
