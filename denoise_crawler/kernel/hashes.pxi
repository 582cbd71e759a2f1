"""Hashes, and tables of them.

XXH32 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), for machines that store the lowest byte first.
"""

cdef uint32_t PRIME1 = 0x9E3779B1U, PRIME2 = 0x85EBCA77U, PRIME3 = 0xC2B2AE3DU, PRIME4 = 0x27D4EB2FU, PRIME5 = 0x165667B1U


cdef inline uint32_t rotated(uint32_t number, int bits) noexcept nogil:
    return (number << bits) | (number >> (32 - bits))


cdef uint32_t hash_bytes(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    cdef const unsigned char* end = data + size
    cdef uint32_t number = PRIME5, four
    cdef uint32_t[4] lanes
    cdef int lane
    if size >= 16:
        lanes[0], lanes[1], lanes[2], lanes[3] = PRIME1 + PRIME2, PRIME2, 0, 0 - PRIME1
        while end - data >= 16:
            for lane in range(4):
                memcpy(&four, data + 4 * lane, 4)
                lanes[lane] = rotated(lanes[lane] + four * PRIME2, 13) * PRIME1
            data += 16
        number = rotated(lanes[0], 1) + rotated(lanes[1], 7) + rotated(lanes[2], 12) + rotated(lanes[3], 18)
    number += <uint32_t>size
    while end - data >= 4:
        memcpy(&four, data, 4)
        number = rotated(number + four * PRIME3, 17) * PRIME4
        data += 4
    while data < end:
        number = rotated(number + data[0] * PRIME5, 11) * PRIME1
        data += 1
    number = (number ^ (number >> 15)) * PRIME2
    number = (number ^ (number >> 13)) * PRIME3
    return number ^ (number >> 16)


def hash_of_bytes(bytes data not None):
    """Return the hash of ``data``."""
    return hash_bytes(data, len(data))


cdef uint32_t hash32(str text) except? 0:
    """Return the hash of a text, in UTF-8."""
    cdef bytes data
    if PyUnicode_IS_ASCII(text):
        return hash_bytes(<const unsigned char*>PyUnicode_DATA(text), len(text))
    data = text.encode("utf-8", "surrogatepass")
    return hash_bytes(data, len(data))


cdef inline uint32_t joined(uint64_t one, uint32_t other) noexcept nogil:
    """Return the hash of two hashes, in this order."""
    return <uint32_t>((((one << 32) | other) * SPREAD) >> 32)


# --- keys that are equal, and hashes by number: tables of open addressing

cdef uint64_t multiplier = int.from_bytes(urandom(8), "little") | 1


cdef inline Py_ssize_t slot_of(uint64_t key, int bits) noexcept nogil:
    """Return the slot of a key among 2**bits."""
    key *= multiplier
    key = (key ^ (key >> 32)) * multiplier  # so that keys at even distances are spread as well,
    key = (key ^ (key >> 32)) * multiplier  # and keys that differ in their highest bits only
    return <Py_ssize_t>(key >> (64 - bits))


def slots_of(const uint64_t[::1] keys not None, int bits):
    """Return the slot of each key among ``2 ** bits``."""
    check(1 <= bits <= 63, "there is no such number of slots")
    return [slot_of(keys[index], bits) for index in range(keys.shape[0])]


cdef Py_ssize_t group(const int64_t[::1] keys, int64_t[::1] first, int64_t[::1] of) except -1:
    """Fill ``first`` by group of equal ``keys`` with its first row, ``of`` by row with its group.

    Return how many groups there are. They are numbered as they come.
    """
    cdef Py_ssize_t row, slot, size = 16, groups = 0, count = keys.shape[0]
    cdef int bits = 4
    while size < 2 * count:
        size, bits = 2 * size, bits + 1
    cdef int64_t[::1] slots = longs(size)  # 1 + the first row with a key
    for row in range(count):
        slot = slot_of(keys[row], bits)
        while slots[slot] and keys[slots[slot] - 1] != keys[row]:
            slot = (slot + 1) & (size - 1)
        if slots[slot]:
            of[row] = of[slots[slot] - 1]
        else:
            slots[slot] = row + 1
            of[row] = groups
            first[groups] = row
            groups += 1
    return groups


cdef const int64_t[::1] highest_first(const double[::1] numbers):
    """Return the rows of ``numbers``, the highest first; equal ones in their order."""
    return np.negative(numbers).argsort(kind="stable")
