/* The twin of the experiment ilp in C: floating-point operations in chains.
 *
 *   chains add|multiply|divide CHAINS CPU NICE
 *
 * For each number of operations that comes in, prints the seconds of one of them.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST = 8 };

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

#if defined(__x86_64__)
#define KEEP(number) __asm__ volatile("" : "+x"(number))
#else
#define KEEP(number) __asm__ volatile("" : "+w"(number))
#endif

/* With a constant number of chains, so that the numbers live in registers. */
#define EACH(op)                      \
    _Pragma("GCC unroll 8")           \
    for (int c = 0; c < chains; c++) { \
        n[c] = n[c] op operand;       \
        KEEP(n[c]);                   \
    }
#define CHAINS(name, op)                                                                        \
    static inline __attribute__((always_inline)) double name(int chains, uint64_t steps,        \
                                                             double operand) {                  \
        double n[MOST], sum = 0;                                                                \
        for (int c = 0; c < chains; c++) n[c] = 1 + c;                                          \
        for (uint64_t i = 0; i < steps / 4; i++) { EACH(op) EACH(op) EACH(op) EACH(op) }        \
        for (int c = 0; c < chains; c++) sum += n[c];                                           \
        return sum;                                                                             \
    }
CHAINS(add, +)
CHAINS(multiply, *)
CHAINS(divide, /)

static double work(char kind, int chains, uint64_t steps) {
    switch (kind * 16 + chains) {
    case 'a' * 16 + 1: return add(1, steps, 1e-9);
    case 'a' * 16 + 8: return add(8, steps, 1e-9);
    case 'm' * 16 + 1: return multiply(1, steps, 1.0000001);
    case 'm' * 16 + 8: return multiply(8, steps, 1.0000001);
    case 'd' * 16 + 1: return divide(1, steps, 1.0000001);
    case 'd' * 16 + 4: return divide(4, steps, 1.0000001);
    default: exit(2);
    }
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    int chains = atoi(argv[2]);
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[3]), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    setpriority(PRIO_PROCESS, 0, atoi(argv[4]));
    double sink = 0;
    uint64_t operations;
    while (scanf("%lu", &operations) == 1) {
        uint64_t steps = operations / chains / 4 * 4;
        double start_s = now_s();
        sink += work(argv[1][0], chains, steps);
        printf("%.6g\n", (now_s() - start_s) / steps / chains);
        fflush(stdout);
    }
    fprintf(stderr, "%g\n", sink);
    return 0;
}
