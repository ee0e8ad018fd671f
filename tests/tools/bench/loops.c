/* The loops of the experiments branches and matrix-order in C, called in the memory of ours. */
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define REGISTER "+x"
#else
#define REGISTER "+w"
#endif
#define KEEP(number) __asm__ volatile("" : REGISTER(number))
#define KEEP_WORD(number) __asm__ volatile("" : "+r"(number))

int64_t with_branch(const uint8_t *bytes, size_t n, int64_t limit, uint64_t laps) {
    int64_t total = 0;
    for (uint64_t lap = 0; lap < laps; lap++)
        for (size_t i = 0; i < n; i++)
            if (bytes[i] >= limit) {
                total += bytes[i];
                KEEP_WORD(total);
            }
    return total;
}

int64_t without_branch(const uint8_t *bytes, size_t n, int64_t limit, uint64_t laps) {
    int64_t total = 0;
    for (uint64_t lap = 0; lap < laps; lap++)
        for (size_t i = 0; i < n; i++) {
            int64_t byte = bytes[i];
            total += byte & -(int64_t)(byte >= limit);
            KEEP_WORD(total);
        }
    return total;
}

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define BLOCKS                                          \
    for (uint64_t top = 0; top < n; top += block)       \
        for (uint64_t left = 0; left < n; left += block) \
            for (uint64_t i = top; i < LEAST(top + block, n); i++)

void multiply(double *restrict c, const double *restrict a, const double *restrict b,
              uint64_t n, uint64_t block, uint64_t steps, uint64_t down, uint64_t right) {
    BLOCKS
        for (uint64_t k = 0; k < steps; k++) {
            double factor = a[i * down + k * right];
            for (uint64_t j = left; j < LEAST(left + block, n); j++) {
                double sum = c[i * down + j * right] + factor * b[k * down + j * right];
                KEEP(sum);
                c[i * down + j * right] = sum;
            }
        }
}

void transpose(double *restrict c, const double *restrict a, const double *unused, uint64_t n,
               uint64_t block, uint64_t steps, uint64_t down, uint64_t right) {
    (void)unused, (void)steps;
    BLOCKS
        for (uint64_t j = left; j < LEAST(left + block, n); j++) {
            double number = a[i * down + j * right];
            KEEP(number);
            c[j * down + i * right] = number;
        }
}
