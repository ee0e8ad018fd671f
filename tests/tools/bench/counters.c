/* The twin of false-sharing in C: two threads raise counters of their own, so many bytes apart.
 *
 *   counters atomic|plain FIRST_CPU SECOND_CPU BYTES NICE
 *
 * Prints seconds of one increment in either thread, some samples, a line each. Each thread publishes
 * what it has done; a third one reads that at the beginning and the end of a while in which both run.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { AT_ONCE = 1000, APART = 4096, SAMPLES = 5 };
static const struct timespec WHILE = {0, 10 * 1000 * 1000};
static _Alignas(APART) char counters[APART];
static _Alignas(APART) struct { _Alignas(APART) volatile uint64_t done; } progress[2];
static volatile int is_over;
static int is_atomic, cpus[2], bytes;

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void *raise_it(void *number) {
    long place = (long)number;
    int64_t *counter = (int64_t *)(counters + place * bytes);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpus[place], &one);
    sched_setaffinity(0, sizeof one, &one); /* of this thread */
    while (!is_over) {
        /* By eights, as LLVM unrolls ours: a loop's branch costs as much as a plain increment. */
        if (is_atomic)
#pragma GCC unroll 8
            for (int i = 0; i < AT_ONCE; i++) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
        else
#pragma GCC unroll 8
            for (int i = 0; i < AT_ONCE; i++) {
                ++*counter;
                __asm__ volatile("" ::: "memory"); /* each is really written */
            }
        progress[place].done += AT_ONCE;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    is_atomic = !strcmp(argv[1], "atomic");
    cpus[0] = atoi(argv[2]);
    cpus[1] = atoi(argv[3]);
    bytes = atoi(argv[4]);
    setpriority(PRIO_PROCESS, 0, atoi(argv[5]));
    pthread_t threads[2];
    for (long place = 0; place < 2; place++) pthread_create(&threads[place], 0, raise_it, (void *)place);
    while (!progress[0].done || !progress[1].done) nanosleep(&(struct timespec){0, 1000000}, 0);
    for (int sample = 0; sample < SAMPLES; sample++) {
        double start_s = now_s();
        uint64_t before = progress[0].done + progress[1].done;
        nanosleep(&WHILE, 0);
        uint64_t after = progress[0].done + progress[1].done;
        printf("%.6g\n", 2 * (now_s() - start_s) / (after - before));
    }
    is_over = 1;
    for (int place = 0; place < 2; place++) pthread_join(threads[place], 0);
    return 0;
}
