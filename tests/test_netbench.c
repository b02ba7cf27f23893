// Collectives of netbench: their schedules, their simulation, and the fit to measurements in a box.
#include <unistd.h>

#include "calibrate/gpu/command_calibrate.h"
#include "calibrate/tcp/netbench.h"
#include "tests/command.h"
#include "tests/test.h"

#define MEASUREMENTS "calibrate/measurements/netbox.csv"
#define MOST_RANKS 9
#define MOST_FLOATS 40

// ---- Schedules: a slow machine that runs them over queues of messages.

typedef struct Machine {
    int rank_count, sent[MOST_RANKS][MOST_RANKS], received[MOST_RANKS][MOST_RANKS];
    float queue[MOST_RANKS][MOST_RANKS][64 * MOST_FLOATS]; // [from][to]
    float data[MOST_RANKS][2 * MOST_FLOATS + MOST_RANKS];
} Machine;

static bool receive(Machine *machine, int rank, const Step *step) {
    int count = (int)(step->receive_bytes / 4);
    int *taken = &machine->received[step->from][rank];
    if (machine->sent[step->from][rank] - *taken < count) return false;
    for (int i = 0; i < count; i++) {
        float *place = &machine->data[rank][step->receive_at / 4 + i];
        *place = (step->add ? *place : 0) + machine->queue[step->from][rank][*taken + i];
    }
    *taken += count;
    return true;
}

static void send_floats(Machine *machine, int rank, const Step *step) {
    for (int i = 0; i < step->send_bytes / 4; i++)
        machine->queue[rank][step->to][machine->sent[rank][step->to]++] = machine->data[rank][step->send_at / 4 + i];
}

// Runs all ranks until none can go on; returns whether all have ended.
static bool run_schedules(Machine *machine, const Schedule *schedules) {
    int at[MOST_RANKS] = {0}, left = 0;
    bool has_sent[MOST_RANKS] = {0}, moved = true;
    while (moved) {
        moved = false;
        left = 0;
        for (int rank = 0; rank < machine->rank_count; rank++) {
            if (at[rank] == schedules[rank].count) continue;
            left++;
            const Step *step = &schedules[rank].items[at[rank]];
            if (step->to >= 0 && !has_sent[rank]) send_floats(machine, rank, step);
            has_sent[rank] = true;
            if (step->from >= 0 && !receive(machine, rank, step)) continue;
            has_sent[rank] = false;
            at[rank]++;
            moved = true;
        }
    }
    return left == 0;
}

static float element_of(int rank, int index) { return (float)((rank + 1) * 100 + index); }

static void check_result(const Machine *machine, BenchOp op, int rank, int64_t bytes) {
    int n = machine->rank_count, floats = (int)bytes / 4;
    float sum = 0;
    const float *data = machine->data[rank];
    for (int r = 0; r < n; r++) sum += element_of(r, 0);
    if (op == BENCH_ALL_TO_ALL) {
        int start = (int)piece_start(bytes, rank, n) / 4, mine = (int)piece_start(bytes, rank + 1, n) / 4 - start;
        for (int from = 0; from < n; from++)
            for (int i = 0; i < mine && from != rank; i++)
                EXPECT_NEAR((double)data[floats + from * mine + i], (double)element_of(from, start + i), 0);
        return;
    }
    for (int i = 0; i < floats; i++) {
        float expected = op == BENCH_BROADCAST   ? element_of(0, i)
                         : op == BENCH_PING_PONG ? element_of(rank == 1 ? 0 : rank, i)
                                                 : sum + (float)(n * i);
        EXPECT_NEAR((double)data[i], (double)expected, 0);
    }
}

TEST(schedules_of_all_collectives_give_the_right_numbers_on_every_rank) {
    for (int op = 0; op < BENCH_OP_COUNT; op++)
        for (int n = 2; n <= MOST_RANKS; n++)
            for (int floats = n; floats <= MOST_FLOATS; floats += 7) {
                Arena *arena = arena_open();
                Machine *machine = ARENA_NEW(arena, Machine);
                Schedule schedules[MOST_RANKS];
                machine->rank_count = n;
                for (int rank = 0; rank < n; rank++) {
                    schedules[rank] = schedule_create(arena, (BenchOp)op, rank, n, 4 * floats);
                    for (int i = 0; i < floats; i++) machine->data[rank][i] = element_of(rank, i);
                }
                EXPECT(run_schedules(machine, schedules));
                for (int rank = 0; rank < n; rank++) check_result(machine, (BenchOp)op, rank, 4 * floats);
                arena_close(arena);
            }
}

// ---- Prediction.

static HostCost free_hosts(void) {
    return (HostCost){.message_seconds = 1e-12,
                      .exchange_seconds = 1e-12,
                      .packet_seconds = 1e-15,
                      .byte_seconds = 1e-18,
                      .adding_bytes_per_second = 1e18,
                      .core_count = 2};
}

static Cable plain_cable(void) {
    return (Cable){.bytes_per_second = 1e8, .efficiency = 1, .burst_bytes = 1, .mtu = 9000};
}

static double wire_bytes(double bytes, int mtu) { return bytes + 66.0 * packets_of((int64_t)bytes, mtu); }

TEST(collectives_over_a_plain_cable_take_their_bytes_over_its_rate) {
    HostCost cost = free_hosts();
    Cable cable = plain_cable();
    int64_t bytes = 8 << 20;
    double whole = wire_bytes(8 << 20, cable.mtu) / 1e8, piece = wire_bytes(1 << 20, cable.mtu) / 1e8;
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_PING_PONG, 8, bytes), whole, 1e-3);
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_BROADCAST, 8, bytes), 3 * whole, 5e-3);
    // Both ways at once: acknowledgements take 0.37 % of the way back.
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_RING, 8, bytes), 14 * piece * 1.00366, 1e-3);
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_RECURSIVE_DOUBLING, 8, bytes), 3 * whole * 1.00366, 5e-3);
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_ALL_TO_ALL, 8, bytes), 7 * piece * 1.00366, 5e-3);
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_TREE, 8, bytes), 6 * whole, 1e-2);
}

TEST(a_bucket_lets_bytes_go_ahead_once) {
    HostCost cost = free_hosts();
    Cable cable = plain_cable();
    cost.wake_seconds = 1e-5;
    cable.burst_bytes = 50000;
    double latency = predict_network(&cost, &cable, BENCH_PING_PONG, 2, 4);
    double one = predict_network(&cost, &cable, BENCH_PING_PONG, 2, 80000);
    EXPECT(latency >= 1e-5 && latency < 1.3e-5);
    EXPECT_NEAR(one - latency, (wire_bytes(80000, 9000) - 50000) / 1e8, 1e-2);
    // Seven sends of each host, of which only the first bytes are free.
    double all = predict_network(&cost, &cable, BENCH_ALL_TO_ALL, 8, 8 * 20000);
    EXPECT_NEAR(all, 7 * latency + (7 * wire_bytes(20000, 9000) - 50000) / 1e8, 0.1);
}

TEST(messages_of_hosts_on_one_core_wait_for_each_other) {
    HostCost cost = free_hosts();
    Cable cable = plain_cable();
    cost.exchange_seconds = 1e-5;
    cost.core_count = 1;
    // 14 steps of 8 messages, all work of the only core.
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_RING, 8, 1024), 14 * (8e-5 + 194e-8), 0.03);
    cost.core_count = 8;
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_RING, 8, 1024), 14 * (1e-5 + 194e-8 + 5e-7),
                0.03); // and what is between host and cable;
}

// ---- The fit.

static const char *write_text(const char *text) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/lockstep_netbench_%d.csv", (int)getpid());
    FILE *file = fopen(path, "w");
    EXPECT(file);
    if (!file) return path;
    fputs(text, file);
    fclose(file);
    return path;
}

TEST(packets_that_a_timer_lets_go_one_by_one_cost_all_hosts_of_their_core) {
    HostCost cost = free_hosts();
    Cable cable = plain_cable();
    int64_t bytes = 8 << 20;
    double packets = packets_of(bytes, cable.mtu) - 1;
    cost.core_count = 1;
    cost.paced_seconds = 100e-6; // a packet is on the wire for 90
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_PING_PONG, 2, bytes), 100e-6 * packets, 2e-3);
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_BROADCAST, 8, bytes), 7 * 100e-6 * packets, 5e-3);
    cost.core_count = 2; // half the work each
    EXPECT_NEAR(predict_network(&cost, &cable, BENCH_PING_PONG, 2, bytes), wire_bytes(8 << 20, 9000) / 1e8, 2e-3);
    cable.burst_bytes = wire_bytes(8 << 20, 9000); // all goes with the bucket
    cost.core_count = 1;
    EXPECT(predict_network(&cost, &cable, BENCH_PING_PONG, 2, bytes) < 1e-3);
}

#define HEADER "cores,rate_mbit,mtu,burst,op,hosts,bytes,p10,wrong,add_bytes_per_second,busy_cores\n"

TEST(the_costs_of_a_box_come_back_from_its_ping_pongs) {
    Arena *arena = arena_open();
    HostCost cost = {.message_seconds = 9e-6,
                     .exchange_seconds = 7e-6,
                     .packet_seconds = 2e-6,
                     .byte_seconds = 3e-10,
                     .paced_seconds = 2e-4,
                     .wake_seconds = 3e-6,
                     .timer_seconds = 1.5e-5,
                     .adding_bytes_per_second = 2e10,
                     .core_count = 2},
             one_core = cost;
    one_core.core_count = 1;
    Cable cable = {500e6 / 8, 0.97, 21600, 9000};
    const char *text = HEADER;
    for (int64_t bytes = 1024; bytes <= 4 << 20; bytes *= 4) {
        for (int mtu = 1500; mtu <= 9000; mtu += 7500) {
            double message = 3e-10 * (double)bytes + 2e-6 * (packets_of(bytes, mtu) - 1),
                   half = 3e-10 * (double)bytes / 2 + 2e-6 * (packets_of(bytes / 2, mtu) - 1);
            text = arena_printf(arena, "%s1,none,%d,none,ping_pong,2,%lld,%.9g,0,2e10,0.1\n", text, mtu,
                                (long long)bytes, 9e-6 + message);
            text = arena_printf(arena, "%s1,none,%d,none,ring_all_reduce,2,%lld,%.9g,0,2e10,0.1\n", text, mtu,
                                (long long)bytes, 4 * (7e-6 + half) + (double)bytes / 2e10);
        }
        text = arena_printf(arena, "%s2,500,9000,21600,ping_pong,2,%lld,%.9g,0,2e10,0.1\n", text, (long long)bytes,
                            predict_network(&cost, &cable, BENCH_PING_PONG, 2, bytes));
        text = arena_printf(arena, "%s1,500,9000,21600,ring_all_reduce,2,%lld,%.9g,0,2e10,0.1\n", text,
                            (long long)bytes, predict_network(&one_core, &cable, BENCH_RING, 2, bytes));
        text = arena_printf(arena, "%s2,500,9000,21600,ring_all_reduce,8,%lld,%.9g,0,2e10,0.1\n", text,
                            (long long)bytes, predict_network(&cost, &cable, BENCH_RING, 8, bytes));
    }
    const char *path = write_text(text);
    Problems *problems = problems_create(arena);
    const NetworkFit *fit = network_fit(arena, path, problems);
    EXPECT(fit);
    if (fit) {
        EXPECT_NEAR(fit->cost.message_seconds, 9e-6, 1e-3);
        EXPECT_NEAR(fit->cost.exchange_seconds, 7e-6, 1e-3);
        EXPECT_NEAR(fit->cost.packet_seconds, 2e-6, 1e-3);
        EXPECT_NEAR(fit->cost.paced_seconds, 2e-4, 1e-2);
        EXPECT_NEAR(fit->busy_cores, 0.1, 1e-9);
        EXPECT_NEAR(fit->cost.byte_seconds, 3e-10, 1e-3);
        EXPECT_NEAR(fit->cost.timer_seconds, 1.5e-5, 0.05);
        EXPECT_NEAR(fit->cables[0].efficiency, 0.97, 1e-3);
        for (int i = 0; i < fit->row_count; i++)
            if (fit->rows[i].op == BENCH_RING && fit->rows[i].cable >= 0)
                EXPECT_NEAR(fit->rows[i].predicted_seconds, fit->rows[i].seconds, 0.02);
    }
    unlink(path);
    arena_close(arena);
}

TEST(measurements_that_make_no_sense_are_refused_with_their_line) {
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"op,hosts\n", "no column is called \"cores\""},
        {HEADER "2,500,9000,100,ring,2,1024,1e-3,0,1e9,0.1\n", ":2: error: no collective is called \"ring\""},
        {HEADER "2,500,9000,100,broadcast,2000,1024,1e-3,0,1e9,0.1\n", ":2: error: hosts is 2000"},
        {HEADER "2,500,9000,100,broadcast,2,1023,1e-3,0,1e9,0.1\n", ":2: error: bytes is 255.75"},
        {HEADER "2,500,10,100,broadcast,2,1024,1e-3,0,1e9,0.1\n", ":2: error: mtu is 10"},
        {HEADER "2,500,9000,100,broadcast,2,1024,-1,0,1e9,0.1\n", ":2: error: p10 is \"-1\""},
        {HEADER "2,500,9000,100,broadcast,2,1024,1e-3,0,1e9,0.1\n",
         "fewer than 4 ping-pongs and rings of two on one core"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128];
        const char *path = write_text(cases[i].text);
        snprintf(line, sizeof line, "network %s", path);
        const Ended *ended = run_asked(&calibrate_network_question, line);
        EXPECT_INT(ended->code, 4);
        EXPECT_CONTAINS(ended->err, cases[i].says);
        unlink(path);
    }
}

// The median error at each number of hosts; two cores drove all of them, and had other work.
TEST(collectives_of_the_recorded_box_are_predicted_within_a_tenth_from_a_mebibyte_and_a_quarter_below) {
    Arena *arena = arena_open();
    const NetworkFit *fit = network_fit(arena, MEASUREMENTS, problems_create(arena));
    EXPECT(fit);
    for (int hosts = 2; fit && hosts <= 8; hosts *= 2)
        for (int large = 0; large < 2; large++) {
            int count = 0, good = 0;
            for (int i = 0; i < fit->row_count; i++) {
                const NetworkRow *row = &fit->rows[i];
                if (row->cable < 0 || row->fitted || row->host_count != hosts || (row->bytes >= 1 << 20) != large)
                    continue;
                count++;
                good += fabs(row->predicted_seconds / row->seconds - 1) <= (large ? 0.10 : 0.25);
            }
            EXPECT(count >= 35);
            if (2 * good <= count) test_fail(__FILE__, __LINE__, "%d hosts: %d of %d", hosts, good, count);
        }
    arena_close(arena);
}

TEST(a_box_on_a_busy_machine_is_not_judged) {
    const Ended *ended = run_asked(&calibrate_network_question, "network " MEASUREMENTS);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "not judged: other work kept 2.0 of 2 cores busy");
}
