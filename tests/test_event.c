#include "sim/base/random.h"
#include "sim/event.h"
#include "tests/test.h"

TEST(events_at_the_same_time_fire_in_scheduling_order) {
    Arena *arena = arena_open();
    EventQueue *queue = event_queue_create(arena, 4);
    Event event;
    for (int i = 0; i < 100; i++) event_schedule(queue, 42, i % 7, i);
    for (int i = 0; i < 100; i++) {
        EXPECT(event_next(queue, &event));
        EXPECT_INT(event.item, i);
        EXPECT_INT(event.kind, i % 7);
    }
    EXPECT(!event_next(queue, &event));
    EXPECT_INT(event_now(queue), 42);
    arena_close(arena);
}

TEST(a_cancelled_event_never_fires_and_cannot_be_cancelled_twice) {
    Arena *arena = arena_open();
    EventQueue *queue = event_queue_create(arena, 4);
    Event event;
    EventId first = event_schedule(queue, 1, 0, 1), second = event_schedule(queue, 2, 0, 2);
    EXPECT(event_cancel(queue, first));
    EXPECT(!event_cancel(queue, first));
    EXPECT(!event_cancel(queue, (EventId){0, 0}));
    EXPECT_INT(event_pending(queue), 1);
    EXPECT(event_next(queue, &event));
    EXPECT_INT(event.item, 2);
    EXPECT(!event_cancel(queue, second)); // it has fired
    EventId third = event_schedule(queue, 3, 0, 3);
    EXPECT(!event_cancel(queue, first) &&
           !event_cancel(queue, second)); // old names do not reach a new event in the same place
    EXPECT(event_cancel(queue, third));
    arena_close(arena);
}

typedef struct Pending {
    SimTime time;
    int64_t order;
    int item;
    EventId id;
} Pending;

// Twin: an unsorted list searched for its least.
TEST(the_queue_agrees_with_a_plain_list_over_random_schedules_and_cancels) {
    enum { ROOM = 600 };
    FOR_SEEDS (seed, 1, 40) {
        Arena *arena = arena_open();
        EventQueue *queue = event_queue_create(arena, 2);
        RandomStream random = random_stream(seed, "event twin", 0);
        static Pending list[ROOM];
        int count = 0, item = 0;
        int64_t order = 0;
        SimTime now = 0;
        for (int turn = 0; turn < 3000; turn++) {
            uint64_t what = random_below(&random, 10);
            if (what < 5 && count < ROOM) {
                SimTime time = now + (SimTime)random_below(&random, 50);
                list[count++] = (Pending){time, order++, item, event_schedule(queue, time, 1, item)};
                item++;
            } else if (what < 7 && count) {
                int at = (int)random_below(&random, (uint64_t)count);
                EXPECT(event_cancel(queue, list[at].id));
                list[at] = list[--count];
            } else if (count) {
                int least = 0;
                for (int i = 1; i < count; i++)
                    if (list[i].time < list[least].time ||
                        (list[i].time == list[least].time && list[i].order < list[least].order))
                        least = i;
                Event event = {0};
                EXPECT(event_next(queue, &event));
                if (event.item != list[least].item || event.time != list[least].time)
                    test_fail(__FILE__, __LINE__, "seed %llu turn %d: item %d, expected %d", (unsigned long long)seed,
                              turn, event.item, list[least].item);
                now = list[least].time;
                list[least] = list[--count];
            }
            EXPECT_INT(event_pending(queue), count);
        }
        arena_close(arena);
    }
}
