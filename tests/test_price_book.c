// A price book of one's own: its rows go first, and what is wrong in it has a line and a column.
#include "models/hardware/market.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenarios/commands/command_run.h"
#include "scenarios/plan/plan_question.h"
#include "scenarios/questions/cost.h"
#include "tests/command.h"
#include "tests/test.h"

static const char *written(const char *name, const char *text) {
    static char path[128];
    snprintf(path, sizeof path, "/tmp/lockstep-price-book-%s-%d.csv", name, (int)getpid());
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

#define GOOD                                                                                                           \
    "provider,node,gpu,gpus,on_demand,reserved_1y,currency,date,source,per_usd\n"                                      \
    "bank,,,,,,EUR,2026-11-01,the bank's page,0.9\n"                                                                   \
    "ours,dgx-h100,,8,18,12,EUR,2024-11,quotation 17,\n"                                                               \
    "theirs,,H200,1,2.7,,USD,2026-11,quotation 18,\n"

TEST(rows_of_the_users_book_go_before_the_catalogues) {
    Arena *arena = arena_open();
    Problems *problems = problems_create(arena);
    const Catalogue *base = catalogue_builtin(arena);
    const char *path = written("good", GOOD);
    const Catalogue *book = catalogue_with_prices(arena, base, path, problems);
    remove(path);
    EXPECT_INT(problem_count(problems), 0);
    EXPECT_INT(book->offer_count, base->offer_count + 3);
    EXPECT_INT(book->currency_count, base->currency_count);
    EXPECT_NEAR(exchange_rate(book, "USD", "EUR"), 0.9, 1e-12); // the book's, not the catalogue's
    const PriceWish on_demand = {.terms = TERMS_ON_DEMAND}, year = {.terms = TERMS_RESERVED_1_YEAR};
    const NodeType *h100 = catalogue_node(book, "dgx-h100"), *p5en = catalogue_node(book, "aws-p5en.48xlarge");
    Quote quote = quote_find(arena, book, h100, node_gpu(book, h100, 0), &on_demand, NULL);
    EXPECT_INT(quote.count, 1);
    EXPECT_TEXT(quote.currency, "EUR");
    EXPECT_NEAR(quote.gpu_hour, 18.0 / 8, 1e-12);
    EXPECT_NEAR(quote_find(arena, book, h100, node_gpu(book, h100, 0), &year, "USD").gpu_hour, 12 / 8.0 / 0.9, 1e-12);
    // A price of a GPU in one's own book is meant for every machine with it, also where the catalogue has one.
    quote = quote_find(arena, book, p5en, node_gpu(book, p5en, 0), &on_demand, NULL);
    EXPECT(quote.count == 1 && quote.is_own);
    EXPECT_TEXT(quote.offers[0]->provider, "theirs");
    // What the book does not know is the catalogue's.
    const NodeType *a100 = catalogue_node(book, "aws-p4d.24xlarge");
    EXPECT_TEXT(quote_find(arena, book, a100, node_gpu(book, a100, 0), &on_demand, NULL).offers[0]->name, "aws-p4d");
    arena_close(arena);
}

TEST(mistakes_in_a_price_book_have_a_line_a_column_and_a_remedy) {
    static const struct {
        const char *text, *line, *error, *hint;
    } cases[] = {
        {"provider,date,source,gpu,price\nx,2026,s,H100,3\n", ":1", "no column \"price\"", "on_demand"},
        {"provider,date,gpu,on_demand\nx,2026,H100,3\n", ":1", "\"source\" is missing", "from where"},
        {"provider,date,source,gpu,on_demand\nx,soon,s,H100,3\n", ":2", "date: \"soon\" is no date", "2026-04"},
        {"provider,date,source,gpu,on_demand\n,2026,s,H100,3\n", ":2", "provider is empty", "whose it is"},
        {"provider,date,source,gpu,on_demand\nx,2026,s,H100,cheap\n", ":2", "on_demand", ""},
        {"provider,date,source,gpu,on_demand\nx,2026,s,H100,-3\n", ":2", "on_demand", ""},
        {"provider,date,source,gpu,on_demand\nx,2026,s,H10O,3\n", ":2", "no GPU is called \"H10O\"", "H100"},
        {"provider,date,source,gpu,on_demand\nx,2026,s,,3\n", ":2", "either of a node or of a gpu", "fill one"},
        {"provider,date,source,gpu,on_demand\nx,2026,s,H100,\n", ":2", "has no price", "on_demand"},
        {"provider,date,source,gpu,on_demand,currency\nx,2026,s,H100,3,shells\n", ":2", "the rate of \"shells\"",
         "per_usd"},
        {"provider,date,source,gpu,gpus,on_demand\nx,2026,s,H100,1.5,3\n", ":2", "gpus: 1.5", "whole number"},
        {"provider,date,source,per_usd,currency\nx,2026,s,0.9,\n", ":2", "per_usd: of which currency?", "currency"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[256];
        snprintf(line, sizeof line, "cost --node dgx-h100 --price-book %s", written("bad", cases[i].text));
        const Ended *ended = run_command(command_cost, line);
        EXPECT_INT(ended->code, 4);
        EXPECT_CONTAINS(ended->err, cases[i].line);
        EXPECT_CONTAINS(ended->err, cases[i].error);
        EXPECT_CONTAINS(ended->err, cases[i].hint);
    }
    remove(written("bad", ""));
    EXPECT_CONTAINS(run_command(command_cost, "cost --node dgx-h100 --price-book /nosuch.csv")->err, "/nosuch.csv");
}

// Its first row and its last too: what the catalogue does not have.
TEST(providers_of_ones_own_book_may_be_asked_for) {
    char line[512];
    const char *path = written("asked", "provider,node,gpus,on_demand,date,source\nnobody,dgx-h100,8,18,2026-11-01,a\n"
                                        "else,dgx-h100,8,16,2026-11-01,b\n");
    snprintf(line, sizeof line,
             "plan --model gpt2-124m --tokens 1B --seq 1024 --node dgx-h100 --gpus 8 --global-batch 64 -j 1 "
             "--provider nobody,else --price-book %s",
             path);
    const Ended *ended = run_command(command_plan, line);
    EXPECT_INT(ended->code, 0);
    EXPECT_CONTAINS(ended->out, "nobody, on demand");
    EXPECT_CONTAINS(ended->out, "else, on demand");
    remove(path);
}

TEST(a_price_book_is_heard_at_every_door_and_old_rows_are_pointed_out) {
    char line[512];
    const char *path = written("doors", GOOD);
    snprintf(line, sizeof line, "cost --node dgx-h100 --price-book %s --date 2026-11-23", path);
    const char *out = run_command(command_cost, line)->out;
    EXPECT_CONTAINS(out, "(ours, on demand, price of");
    EXPECT_CONTAINS(out, "more than a year older than 2026-11-23: book-3-on_demand");
    snprintf(
        line, sizeof line,
        "run --model gpt2-124m --global-batch 64 --node dgx-h100 --gpus 8 --price-book %s --terms on_demand --json",
        path);
    EXPECT_CONTAINS(run_command(command_run, line)->out, "\"per_hour\": 18,");
    remove(path);
}

TEST(offers_are_listed_with_their_machines_fabrics_and_dates) {
    const char *out = run_command(command_cost, "cost --node dgx-h100 --offers --terms on_demand --csv")->out;
    EXPECT_CONTAINS(out, "aws-p5,aws,aws-p5.48xlarge,efa-100,on_demand,2026,quoted,6.88");
    EXPECT_CONTAINS(out, "vultr-hgx-h100,ib-ndr400,on_demand,2025,assumed,");
    EXPECT(!strstr(out, "spot"));
    out = run_command(command_cost, "cost --node dgx-h100 --offers --provider azure --fabric ib-ndr400")->out;
    EXPECT_CONTAINS(out, "azure-h100");
    EXPECT(!strstr(out, "crusoe"));
    out = run_command(command_cost, "cost --node dgx-h100 --offers --json")->out;
    EXPECT_CONTAINS(out, "\"fabric\": \"efa-100\"");
    EXPECT_CONTAINS(out, "\"per_pflops_hour\"");
}
