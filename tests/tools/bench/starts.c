/* Starts threads and processes that do nothing, and waits for each: "KIND COUNT" on a line of
   standard input, the seconds of one on a line of standard output. */

#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static const char *tiny;

static void *nothing(void *unused) { return unused; }

static void start_thread(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
}

static void fork_this(void) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, NULL, 0);
}

static void start_program(void) {
    char *words[] = {(char *)tiny, NULL}, *nobody[] = {NULL};
    pid_t child;
    posix_spawn(&child, tiny, NULL, NULL, words, nobody);
    waitpid(child, NULL, 0);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int words, char **given) {
    char kind[32];
    long count;
    if (words != 2) return 2;
    tiny = given[1];
    while (scanf("%31s %ld", kind, &count) == 2) {
        void (*start)(void) = !strcmp(kind, "thread")    ? start_thread
                              : !strcmp(kind, "os_fork") ? fork_this
                                                         : start_program;
        double begin_s = now_s();
        for (long n = 0; n < count; n++) start();
        printf("%.9g\n", (now_s() - begin_s) / count);
        fflush(stdout);
    }
    return 0;
}
