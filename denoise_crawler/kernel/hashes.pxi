"""Hashes, and tables of them.

XXH3 of 64 bits without a seed (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), for machines that store the
lowest byte first. That of more than 240 bytes is left to the package ``xxhash``, as all in ``hashes.py``.
"""

cdef uint64_t PRIME64_1 = 0x9E3779B185EBCA87U, PRIME64_2 = 0xC2B2AE3D27D4EB4FU, PRIME64_3 = 0x165667B19E3779F9U
cdef bytes SECRET_BYTES = bytes.fromhex(  # as the algorithm has it, as far as it is needed
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
)
cdef unsigned char SECRET[144]
memcpy(SECRET, <const unsigned char*>SECRET_BYTES, 144)


cdef inline uint64_t read64(const unsigned char* data) noexcept nogil:
    cdef uint64_t number
    memcpy(&number, data, 8)
    return number


cdef inline uint64_t read32(const unsigned char* data) noexcept nogil:
    cdef uint32_t number
    memcpy(&number, data, 4)
    return number


cdef inline uint64_t rotated(uint64_t number, int bits) noexcept nogil:
    return (number << bits) | (number >> (64 - bits))


cdef inline uint64_t swapped(uint64_t number) noexcept nogil:
    number = ((number & 0x00FF00FF00FF00FFU) << 8) | ((number >> 8) & 0x00FF00FF00FF00FFU)
    number = ((number & 0x0000FFFF0000FFFFU) << 16) | ((number >> 16) & 0x0000FFFF0000FFFFU)
    return (number << 32) | (number >> 32)


cdef inline uint64_t folded(uint64_t one, uint64_t other) noexcept nogil:
    """Return both halves of a product of 128 bits, one xor the other."""
    cdef uint64_t low = (one & 0xFFFFFFFFU) * (other & 0xFFFFFFFFU)
    cdef uint64_t cross = (one >> 32) * (other & 0xFFFFFFFFU)
    cdef uint64_t other_cross = (one & 0xFFFFFFFFU) * (other >> 32)
    cdef uint64_t high = (one >> 32) * (other >> 32)
    cdef uint64_t middle = (low >> 32) + (cross & 0xFFFFFFFFU) + other_cross
    return ((middle << 32) | (low & 0xFFFFFFFFU)) ^ (high + (cross >> 32) + (middle >> 32))


cdef inline uint64_t avalanche(uint64_t number) noexcept nogil:
    number ^= number >> 37
    number *= 0x165667919E3779F9U
    return number ^ (number >> 32)


cdef inline uint64_t avalanche64(uint64_t number) noexcept nogil:
    number ^= number >> 33
    number *= PRIME64_2
    number ^= number >> 29
    number *= PRIME64_3
    return number ^ (number >> 32)


cdef inline uint64_t mixed(const unsigned char* data, const unsigned char* secret) noexcept nogil:
    return folded(read64(data) ^ read64(secret), read64(data + 8) ^ read64(secret + 8))


cdef inline uint64_t hash_short(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    """Hash at most 16 bytes."""
    cdef uint64_t low, high, number
    if size > 8:
        low = read64(data) ^ read64(SECRET + 24) ^ read64(SECRET + 32)
        high = read64(data + size - 8) ^ read64(SECRET + 40) ^ read64(SECRET + 48)
        return avalanche(<uint64_t>size + swapped(low) + high + folded(low, high))
    if size > 3:
        number = read32(data + size - 4) + (read32(data) << 32)
        number ^= read64(SECRET + 8) ^ read64(SECRET + 16)
        number ^= rotated(number, 49) ^ rotated(number, 24)
        number *= 0x9FB21C651E98DF25U
        number ^= (number >> 35) + <uint64_t>size
        number *= 0x9FB21C651E98DF25U
        return number ^ (number >> 28)
    if size:
        number = (<uint64_t>data[0] << 16) | (<uint64_t>data[size >> 1] << 24) | data[size - 1] | (<uint64_t>size << 8)
        return avalanche64(number ^ read32(SECRET) ^ read32(SECRET + 4))
    return avalanche64(read64(SECRET + 56) ^ read64(SECRET + 64))


cdef inline uint64_t hash_middle(const unsigned char* data, Py_ssize_t size) noexcept nogil:
    """Hash 17 to 240 bytes."""
    cdef uint64_t sum = <uint64_t>size * PRIME64_1
    cdef Py_ssize_t step
    if size <= 128:
        for step in range((size - 1) // 32, -1, -1):
            sum += mixed(data + 16 * step, SECRET + 32 * step)
            sum += mixed(data + size - 16 * (step + 1), SECRET + 32 * step + 16)
        return avalanche(sum)
    for step in range(8):
        sum += mixed(data + 16 * step, SECRET + 16 * step)
    sum = avalanche(sum)
    for step in range(8, size // 16):
        sum += mixed(data + 16 * step, SECRET + 16 * (step - 8) + 3)
    return avalanche(sum + mixed(data + size - 16, SECRET + 136 - 17))


cdef uint64_t hash_bytes(const unsigned char* data, Py_ssize_t size) except? 0:
    if size <= 16:
        return hash_short(data, size)
    return hash_middle(data, size) if size <= 240 else xxh3_64_intdigest(data[:size])


def hash64(bytes data not None):
    """Return the hash of ``data``."""
    return hash_bytes(data, len(data))


cdef uint32_t hash32(str text) except? 0:
    """Return the low half of the hash of a text, in UTF-8."""
    cdef bytes data
    if PyUnicode_IS_ASCII(text):
        return <uint32_t>hash_bytes(<const unsigned char*>PyUnicode_DATA(text), len(text))
    data = text.encode("utf-8", "surrogatepass")
    return <uint32_t>hash_bytes(data, len(data))


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
