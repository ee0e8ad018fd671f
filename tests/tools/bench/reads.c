/* The twin of the memory experiments in C: the same reads, written as C is written.
 *
 *   reads chain SIZE CPU NICE PAGES     seconds of one dependent read, random order, one line a node
 *   reads chains1|2|...|48 SIZE CPU NICE PAGES   seconds per read of so many chains, side by side
 *   reads row|random SIZE CPU NICE PAGES   seconds per 8-byte element, at the places of a list
 *
 * PAGES is small (4 KiB) or huge (2 MiB).
 *
 * Prints some samples of at least 5 ms, a line each; of chains one for each number of reads in a
 * chain that comes in, so that the caller can take turns from sample to sample. The caller starts it anew for each turn: which
 * pages of memory a process gets is luck, and the caches show it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

enum { LINE = 64, WORDS = LINE / 8, SAMPLES = 3, MOST_CHAINS = 48 };
static const double SAMPLE_S = 0.005;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_below(uint64_t n) { /* xorshift64 (Marsaglia 2003) */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

/* One cycle through all lines (Sattolo 1986); `starts` lie at equal distances along it. */
static void **chain(uint64_t *words, uint64_t nodes, void ***starts, int chains) {
    uint64_t *order = malloc(nodes * sizeof *order);
    for (uint64_t i = 0; i < nodes; i++) order[i] = i;
    for (uint64_t i = nodes - 1; i > 0; i--) {
        uint64_t j = random_below(i), swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (uint64_t i = 0; i < nodes; i++)
        words[order[i] * WORDS] = (uint64_t)&words[order[(i + 1) % nodes] * WORDS];
    for (int c = 0; c < chains; c++) starts[c] = (void **)&words[order[nodes / chains * c] * WORDS];
    free(order);
    return (void **)&words[0];
}

static void **walk(void **p, uint64_t steps) {
#define STEP p = *p;
#define STEPS4 STEP STEP STEP STEP
    for (uint64_t i = 0; i < steps / 16; i++) { STEPS4 STEPS4 STEPS4 STEPS4 }
    return p;
}

/* With a constant number of chains, so that their places live in registers. */
static inline __attribute__((always_inline)) void walk_each(void ***places, int chains,
                                                            uint64_t steps) {
    void **p[MOST_CHAINS];
    for (int c = 0; c < chains; c++) p[c] = places[c];
    for (uint64_t i = 0; i < steps / 4; i++)
#define EACH for (int c = 0; c < chains; c++) p[c] = *p[c];
    { EACH EACH EACH EACH }
    for (int c = 0; c < chains; c++) places[c] = p[c];
}

static void walk_all(void ***places, int chains, uint64_t steps) {
    switch (chains) {
    case 1: walk_each(places, 1, steps); break;
    case 2: walk_each(places, 2, steps); break;
    case 4: walk_each(places, 4, steps); break;
    case 8: walk_each(places, 8, steps); break;
    case 12: walk_each(places, 12, steps); break;
    case 16: walk_each(places, 16, steps); break;
    case 24: walk_each(places, 24, steps); break;
    case 32: walk_each(places, 32, steps); break;
    case 48: walk_each(places, 48, steps); break;
    default: exit(2);
    }
}

static uint64_t sum_row(const uint64_t *words, uint64_t count, uint64_t laps) {
    uint64_t total = 0;
    for (uint64_t lap = 0; lap < laps; lap++) {
        for (uint64_t i = 0; i < count; i++) total += words[i];
        __asm__ volatile("" : "+r"(total)); /* a lap is not to be left out */
    }
    return total;
}

/* All places once, in order or shuffled (Hull and Dobell 1962; constants of Knuth's MMIX). */
static void list_places(uint32_t *places, uint64_t count, int shuffled) {
    uint64_t number = 0, factor = shuffled ? 6364136223846793005ull : 1;
    uint64_t more = shuffled ? 1442695040888963407ull : 1;
    for (uint64_t i = 0; i < count; i++, number = number * factor + more)
        places[i] = number & (count - 1);
}

/* No vectors: what is compared is memory. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((noinline, optimize("no-tree-vectorize")))
#endif
static uint64_t sum_listed(const uint64_t *words, const uint32_t *places, uint64_t size,
                           uint64_t first, uint64_t count) {
    uint64_t total = 0, place = first % size;
    while (count > 0) {
        uint64_t i = place, stop = place + count < size ? place + count : size;
        /* By eights, as LLVM unrolls ours: fewer instructions, so more reads under way at once. */
#define READ total += words[places[i++]];
        while (i + 8 <= stop) { READ READ READ READ READ READ READ READ }
        while (i < stop) { READ }
        count -= stop - place;
        place = 0;
    }
    return total;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    const char *kind = argv[1];
    uint64_t size = strtoull(argv[2], 0, 0), count = size / 8;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(atoi(argv[3]), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    setpriority(PRIO_PROCESS, 0, atoi(argv[4]));

    uint64_t huge = 2 << 20, whole = size + count * sizeof(uint32_t) + huge;
    char *map = mmap(0, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return 1;
    madvise(map, whole, strcmp(argv[5], "huge") ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    uint64_t *words = (uint64_t *)(((uintptr_t)map + huge - 1) / huge * huge);
    for (uint64_t i = 0; i < count; i++) words[i] = 1;

    uint32_t *list = (uint32_t *)(words + count);
    list_places(list, count, !strcmp(kind, "random"));

    void **place = 0, **places[MOST_CHAINS];
    int chains = strncmp(kind, "chains", 6) ? 0 : atoi(kind + 6);
    int is_listed = !strcmp(kind, "row") || !strcmp(kind, "random");
    uint64_t next = 0, sink = 0, work = 2048, nodes = size / LINE;
    if (!strcmp(kind, "chain") || chains) place = chain(words, nodes, places, chains);
    if (chains) sink += sum_row(words, count, 1);
    while (chains && scanf("%lu", &work) == 1) {
        double start_s = now_s();
        walk_all(places, chains, work);
        printf("%.6g\n", (now_s() - start_s) / work / chains);
        fflush(stdout);
    }
    for (int sample = 0; sample < SAMPLES && !chains; sample++) {
        double taken_s = 0, per = 0;
        /* The same warm-up as ours: caches and page tables are shared with all that ran before. */
        if (!sample) sink += sum_row(words, count, 1);
        if (!strcmp(kind, "chain")) place = walk(place, nodes < 200000 ? nodes : 200000);
        if (is_listed) sink += sum_listed(words, list, count, next, 500000), next += 500000;
        for (;;) { /* grow the work until a sample is long enough; that is the warm-up */
            double start_s = now_s();
            if (!strcmp(kind, "chain")) {
                place = walk(place, work);
                per = work;
            } else {
                sink += sum_listed(words, list, count, next, work);
                next += work;
                per = work;
            }
            taken_s = now_s() - start_s;
            if (taken_s >= SAMPLE_S) break;
            work *= 2;
        }
        printf("%.6g\n", taken_s / per);
        fflush(stdout);
    }
    fprintf(stderr, "%p %lu\n", (void *)place, (unsigned long)sink);
    return 0;
}
