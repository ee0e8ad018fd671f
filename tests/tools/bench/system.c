/* The twins in C of the follow-ups around a core: switches, page faults, strides, sets, counters.
 *
 *   system NICE CPU OTHER
 *
 * Each line that comes in is a KIND and three numbers, A, B and COUNT. It prints seconds of one.
 *   call 0 0 COUNT              a getppid
 *   futex|pipe PLACE 0 COUNT    a turn handed over; PLACE 0 the calls alone, 1 on one core, 2 on two
 *   touch HUGE AGAIN COUNT      a write to a page of new memory, the first or the second
 *   chain LINES APART COUNT     a chained read; APART 4097: spread over the lines of 4 KiB pages
 *   atomic|mutex|sharded THREADS 0 COUNT   an increment, of all threads together, in COUNT us
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, PAGE = 4096, HUGE_PAGE = 2 << 20, APART = 256, WARM_UP = 50, SPREAD = 4097 };
static int cpus[2];

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void pin(int cpu) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one); /* of this thread */
}

static char *mapped(uint64_t size, int huge, char **whole) {
    *whole = mmap(0, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (*whole == MAP_FAILED) exit(1);
    madvise(*whole, size + HUGE_PAGE, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    return (char *)(((uintptr_t)*whole + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
}

static char *written(uint64_t size, int huge) {
    char *whole, *memory = mapped(size, huge, &whole);
    memset(memory, 1, size);
    return memory;
}

/* --- switches */

static _Alignas(APART) int64_t word;
static int there[2], back[2];

static void over_futex(long times, int64_t awaited, int64_t handed) {
    for (long i = 0; i < times; i++) {
        int64_t now;
        while ((now = __atomic_load_n(&word, __ATOMIC_RELAXED)) != awaited)
            syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, now, 0, 0, 0);
        __atomic_store_n(&word, handed, __ATOMIC_RELAXED);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    }
}

static void futex_alone(long times) {
    for (long i = 0; i < times; i++) {
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 3, 0, 0, 0);
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    }
}

static void over_pipe(long times, int in, int out, int begins) {
    char byte = 1;
    for (long i = 0; i < times; i++) {
        if (begins && write(out, &byte, 1) != 1) exit(3);
        if (read(in, &byte, 1) != 1) exit(3);
        if (!begins && write(out, &byte, 1) != 1) exit(3);
    }
}

struct answer { int is_futex, cpu; long times; };

static void *answer(void *given) {
    struct answer *a = given;
    pin(a->cpu);
    if (a->is_futex) over_futex(a->times, 1, 0);
    else over_pipe(a->times, there[0], back[1], 0);
    return 0;
}

static void begin(int is_futex, long times) {
    if (is_futex) over_futex(times, 0, 1);
    else over_pipe(times, back[0], there[1], 1);
}

static double handed_s(int is_futex, long place, long count) {
    if (!place) {
        double start_s = now_s();
        if (is_futex) futex_alone(count);
        else over_pipe(count, there[0], there[1], 1);
        return (now_s() - start_s) / count;
    }
    struct answer a = {is_futex, cpus[place == 2], WARM_UP + count};
    pthread_t partner;
    pthread_create(&partner, 0, answer, &a);
    begin(is_futex, WARM_UP);
    double start_s = now_s();
    begin(is_futex, count);
    double each_s = (now_s() - start_s) / 2 / count;
    pthread_join(partner, 0);
    return each_s;
}

/* --- memory */

static double touched_s(long huge, long again, long pages) {
    uint64_t page = huge ? HUGE_PAGE : PAGE;
    char *whole, *memory = mapped(page * pages, huge, &whole);
    double taken_s = 0;
    for (long turn = 0; turn <= again; turn++) {
        double start_s = now_s();
        for (long i = 0; i < pages; i++) *(volatile int64_t *)(memory + i * page) = 1;
        taken_s = now_s() - start_s;
    }
    munmap(whole, page * pages + HUGE_PAGE);
    return taken_s / pages;
}

static uint64_t random_state = 88172645463325252ull;
static uint64_t random_below(uint64_t n) { /* xorshift64 (Marsaglia 2003) */
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % n;
}

static void **walk(void **p, long steps) {
    for (long i = 0; i < steps / 16; i++) {
#define STEPS4 p = *p; p = *p; p = *p; p = *p;
        STEPS4 STEPS4 STEPS4 STEPS4
    }
    return p;
}

/* The memory and the chain are kept: the next line mostly asks for the same again. */
static double chained_s(long lines, long apart, long steps) {
    static char *memory;
    static void **place;
    static long made[2];
    if (made[0] != lines || made[1] != apart) {
        static uint64_t size;
        uint64_t needed = lines * (uint64_t)(apart == SPREAD ? PAGE : apart);
        if (needed > size) memory = written(size = needed, 0);
        char **at = malloc(lines * sizeof *at);
        for (long i = 0; i < lines; i++)
            at[i] = apart == SPREAD ? memory + i * PAGE + random_below(PAGE / LINE) * LINE
                                    : memory + i * apart;
        for (long i = lines - 1; i > 0; i--) {
            long j = random_below(i + 1);
            char *swap = at[i];
            at[i] = at[j];
            at[j] = swap;
        }
        for (long i = 0; i < lines; i++) *(char **)at[i] = at[(i + 1) % lines];
        place = walk((void **)at[0], 2 * lines);
        free(at);
        made[0] = lines, made[1] = apart;
    }
    double start_s = now_s();
    place = walk(place, steps);
    return (now_s() - start_s) / steps;
}

/* Also called from without, in memory of the caller: where its pages lie decides. */
int64_t read_apart(long touches, const char *base, long size, long stride) {
    int64_t total = 0;
    long of_lap = size / stride;
    for (long lap = 0; lap * of_lap < touches; lap++) {
        const volatile unsigned char *p = (const unsigned char *)base + lap * LINE % (stride > LINE ? stride : LINE);
        long left = touches - lap * of_lap, count = left < of_lap ? left : of_lap;
        for (long i = 0; i < count / 8; i++, p += 8 * stride)
#pragma GCC unroll 8
            for (int n = 0; n < 8; n++) total += p[n * stride];
    }
    return total;
}

/* --- counters */

static _Alignas(APART) struct { _Alignas(APART) int64_t value; } counters[64];
static _Alignas(APART) pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile long done[64 * 32];
static volatile int is_over;
static char counted;

static void *raise_it(void *number) {
    long place = (long)number;
    int64_t *counter = &counters[counted == 's' ? place : 0].value;
    pin(cpus[place]);
    while (!is_over) {
        if (counted == 'm')
            for (int i = 0; i < 1000; i++) {
                pthread_mutex_lock(&lock);
                *(volatile int64_t *)counter += 1;
                pthread_mutex_unlock(&lock);
            }
        else /* By eights, as LLVM unrolls ours. */
#pragma GCC unroll 8
            for (int i = 0; i < 1000; i++) __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
        done[place * 32] += 1000;
    }
    return 0;
}

static double raised_s(char kind, long threads, long microseconds) {
    pthread_t made[2];
    counted = kind, is_over = 0;
    for (long place = 0; place < threads; place++) done[place * 32] = 0;
    for (long place = 0; place < threads; place++) pthread_create(&made[place], 0, raise_it, (void *)place);
    while (!done[0] || (threads > 1 && !done[32])) nanosleep(&(struct timespec){0, 100000}, 0);
    double start_s = now_s();
    long before = done[0] + (threads > 1 ? done[32] : 0);
    nanosleep(&(struct timespec){0, microseconds * 1000}, 0);
    long after = done[0] + (threads > 1 ? done[32] : 0);
    double each_s = (now_s() - start_s) / (after - before);
    is_over = 1;
    for (long place = 0; place < threads; place++) pthread_join(made[place], 0);
    return each_s;
}

/* With a second thread, as Python has one here: then the C library looks at each read and write
 * whether the thread is to be ended. */
static void *wait_for_ever(void *unused) {
    pause();
    return unused;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    pthread_t waiting;
    pthread_create(&waiting, 0, wait_for_ever, 0);
    setpriority(PRIO_PROCESS, 0, atoi(argv[1]));
    cpus[0] = atoi(argv[2]), cpus[1] = atoi(argv[3]);
    pin(cpus[0]);
    if (pipe(there) || pipe(back)) return 1;
    char kind[16];
    long a, b, count;
    while (scanf("%15s %ld %ld %ld", kind, &a, &b, &count) == 4) {
        double each_s = 0;
        if (!strcmp(kind, "call")) {
            double start_s = now_s();
            for (long i = 0; i < count; i++) getppid();
            each_s = (now_s() - start_s) / count;
        } else if (!strcmp(kind, "futex") || !strcmp(kind, "pipe")) {
            each_s = handed_s(*kind == 'f', a, count);
        } else if (!strcmp(kind, "touch")) {
            each_s = touched_s(a, b, count);
        } else if (!strcmp(kind, "chain")) {
            each_s = chained_s(a, b, count);
        } else {
            each_s = raised_s(*kind, a, count);
        }
        printf("%.6g\n", each_s);
        fflush(stdout);
    }
    return 0;
}
