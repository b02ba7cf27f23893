#include "sim/system/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#define SPINS 4000 // looks whether there is work, before a thread sleeps

static struct {
    pid_t process;    // whose threads they are: a fork has none
    int count, asked; // threads; numbers that are to be worked on this time
    void (*work)(void *context, int number);
    void *context;
    pthread_mutex_t mutex;
    pthread_cond_t turns;
    _Atomic unsigned turn;
    _Atomic int busy, asleep;
} threads = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turns = PTHREAD_COND_INITIALIZER};

static void rest(int spins) {
    if (spins % 64 == 63) sched_yield(); // others may need this core to come to an end
}

static void sleep_until_turn(unsigned seen) {
    pthread_mutex_lock(&threads.mutex);
    atomic_fetch_add(&threads.asleep, 1);
    while (atomic_load(&threads.turn) == seen) pthread_cond_wait(&threads.turns, &threads.mutex);
    atomic_fetch_sub(&threads.asleep, 1);
    pthread_mutex_unlock(&threads.mutex);
}

static void *thread_main(void *of_it) {
    int number = (int)((uintptr_t)of_it % THREADS_MOST);
    for (unsigned seen = (unsigned)((uintptr_t)of_it / THREADS_MOST);; seen++) {
        for (int spins = 0; spins < SPINS && atomic_load(&threads.turn) == seen; spins++) rest(spins);
        if (atomic_load(&threads.turn) == seen) sleep_until_turn(seen);
        if (number < threads.asked) threads.work(threads.context, number);
        atomic_fetch_sub(&threads.busy, 1);
    }
    return NULL;
}

static void forget_those_of_a_parent(void) {
    if (threads.process == getpid()) return;
    threads.process = getpid();
    threads.count = 0;
    pthread_mutex_init(&threads.mutex, NULL);
    pthread_cond_init(&threads.turns, NULL);
    atomic_store(&threads.turn, 0);
    atomic_store(&threads.asleep, 0);
}

// Signals are for who began.
static void start(int count) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (threads.count < count - 1) {
        pthread_t thread;
        uintptr_t of_it = (uintptr_t)atomic_load(&threads.turn) * THREADS_MOST + (uintptr_t)threads.count + 1;
        if (pthread_create(&thread, NULL, thread_main, (void *)of_it) != 0) break;
        pthread_detach(thread);
        threads.count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void threads_work(int count, void (*work)(void *context, int number), void *context) {
    forget_those_of_a_parent();
    if (threads.count < count - 1) start(count);
    threads.asked = count;
    threads.work = work;
    threads.context = context;
    atomic_store(&threads.busy, threads.count);
    atomic_fetch_add(&threads.turn, 1);
    if (atomic_load(&threads.asleep)) {
        pthread_mutex_lock(&threads.mutex);
        pthread_cond_broadcast(&threads.turns);
        pthread_mutex_unlock(&threads.mutex);
    }
    work(context, 0);
    for (int n = threads.count + 1; n < count; n++) work(context, n);
    for (int spins = 0; atomic_load(&threads.busy); spins++) rest(spins);
}

// ---- From options.
static int wanted = 1;

void threads_want(const Options *options, Problems *problems) {
    wanted = (int)option_count_within(options, "threads", 1, 1, THREADS_MOST, problems);
}

int threads_wanted(void) { return wanted; }
