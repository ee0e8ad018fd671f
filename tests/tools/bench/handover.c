/* The twin of core-to-core in C: a word goes to and fro between two threads by compare-and-swap.
 *
 *   handover TIMING_CPU ANSWERING_CPU LINES NICE
 *
 * Prints seconds of one way: the best sample of each line, the median over the lines.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { ROUND_TRIPS = 1000, SAMPLES = 3, APART = 256, SIZE = 2 << 20 };
static int64_t **words;
static int lines, answering;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void pin(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus); /* of this thread */
}

static void hand_over(int64_t *word, long times, int64_t awaited, int64_t handed) {
    for (long i = 0; i < times; i++) {
        int64_t seen;
        do seen = awaited;
        while (!__atomic_compare_exchange_n(word, &seen, handed, 0, __ATOMIC_SEQ_CST,
                                            __ATOMIC_SEQ_CST));
    }
}

static void *answer(void *unused) {
    pin(answering);
    for (int line = 0; line < lines; line++)
        hand_over(words[line], (1 + SAMPLES) * ROUND_TRIPS, 1, 0);
    return unused;
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv) {
    if (argc != 5) return 2;
    answering = atoi(argv[2]);
    lines = atoi(argv[3]);
    setpriority(PRIO_PROCESS, 0, atoi(argv[4]));
    char *map = mmap(0, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return 1;
    madvise(map, 2 * SIZE, MADV_NOHUGEPAGE);
    memset(map, 0, 2 * SIZE);
    words = malloc(lines * sizeof *words);
    srandom(getpid());
    for (int line = 0; line < lines; line++) /* one in each part of the memory, so all differ */
        words[line] = (int64_t *)(map + SIZE / lines * line / APART * APART
                                  + random() % (SIZE / lines / APART) * APART);
    double *best = malloc(lines * sizeof *best);
    pthread_t partner;
    pthread_create(&partner, 0, answer, 0);
    pin(atoi(argv[1]));
    for (int line = 0; line < lines; line++) {
        best[line] = 1e9;
        for (int sample = 0; sample <= SAMPLES; sample++) {
            double start_s = now_s();
            hand_over(words[line], ROUND_TRIPS, 0, 1);
            double one_way_s = (now_s() - start_s) / ROUND_TRIPS / 2;
            if (sample > 0 && one_way_s < best[line]) best[line] = one_way_s;
        }
    }
    pthread_join(partner, 0);
    qsort(best, lines, sizeof *best, by_size);
    printf("%.6g\n", (best[lines / 2] + best[(lines - 1) / 2]) / 2);
    return 0;
}
