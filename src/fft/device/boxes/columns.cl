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
