/* The twin of the experiment noise in C: a thread on each core reads the clock without pause.
 *
 *   noise SECONDS LEAST_NS CPU...
 *
 * Prints the lost share of all cores' time, the gaps of a core in a second, the longest gap in
 * seconds, and the seconds of one reading.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 1024 };

struct core {
    int cpu;
    int64_t watched, lost, longest, gaps, readings;
};

static int64_t length, least;
static pthread_barrier_t together;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void *watch(void *argument) {
    struct core *core = argument;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(core->cpu, &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
    pthread_barrier_wait(&together);
    int64_t begin = now_ns(), before = begin;
    while (before < begin + length) {
        int64_t now = now_ns(), gap = now - before;
        if (gap > least) {
            core->gaps++;
            core->lost += gap;
            if (gap > core->longest) core->longest = gap;
        }
        before = now;
        core->readings++;
    }
    core->watched = before - begin;
    return NULL;
}

int main(int argc, char **argv) {
    static struct core cores[MOST];
    static pthread_t threads[MOST];
    int count = argc - 3;
    if (count < 1 || count > MOST) return 2;
    length = atof(argv[1]) * 1e9;
    least = atoll(argv[2]);
    pthread_barrier_init(&together, NULL, count);
    for (int c = 0; c < count; c++) {
        cores[c].cpu = atoi(argv[c + 3]);
        pthread_create(&threads[c], NULL, watch, &cores[c]);
    }
    struct core all = {0};
    for (int c = 0; c < count; c++) {
        pthread_join(threads[c], NULL);
        all.watched += cores[c].watched;
        all.lost += cores[c].lost;
        all.gaps += cores[c].gaps;
        all.readings += cores[c].readings;
        if (cores[c].longest > all.longest) all.longest = cores[c].longest;
    }
    printf("%.9g %.9g %.9g %.9g\n", (double)all.lost / all.watched, all.gaps * 1e9 / all.watched,
           all.longest * 1e-9, (all.watched - all.lost) * 1e-9 / all.readings);
    return 0;
}
