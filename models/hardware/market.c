#include "models/hardware/market.h"

#include <math.h>
#include <string.h>

#include "models/hardware/parts.h"
#include "sim/base/quantity.h"
#include "sim/data/csv.h"

// ---- Prices, currencies, grids and sites: values derived from a row, and checks of a row.

const char *const terms_names[TERMS_COUNT] = {"on_demand", "reserved_1y", "reserved_3y", "spot", "monthly", "block"};
const char *const terms_titles[TERMS_COUNT] = {"on demand", "reserved for 1 year", "reserved for 3 years",
                                               "spot",      "by the month",        "block of days"};

double terms_years(Terms terms) {
    static const double years[TERMS_COUNT] = {
        [TERMS_RESERVED_1_YEAR] = 1, [TERMS_RESERVED_3_YEARS] = 3, [TERMS_MONTHLY] = 1.0 / 12};
    return years[terms];
}

bool terms_are_paid_unused(Terms terms) { return terms_years(terms) > 0; }

double offer_gpu_hour(const Offer *offer) {
    double per_hour = offer->price_per_hour > 0 ? offer->price_per_hour : offer->price_per_month / HOURS_PER_MONTH;
    return per_hour / offer->gpus;
}

bool offer_is_for(const Offer *offer, const NodeType *node, const Gpu *gpu) {
    if (offer->gpu) return same_part_name(offer->gpu, gpu->name);
    for (int i = 0; i < offer->node_count; i++)
        if (same_part_name(offer->nodes[i], node->name)) return true;
    return false;
}

bool offer_is_comparable(const Catalogue *catalogue, const Offer *offer, const NodeType *node, const Gpu *gpu) {
    if (offer_is_for(offer, node, gpu)) return true;
    for (int i = 0; i < offer->node_count; i++) {
        const NodeType *other = catalogue_node(catalogue, offer->nodes[i]);
        if (other && strcmp(node_gpu(catalogue, other, 0)->name, gpu->name) == 0) return true;
    }
    return false;
}

// A share q is taken away within a month, so the hazard is -ln(1 - q) over a month's hours.
double offer_interruptions_per_hour(const Offer *offer) {
    return offer->interruptions_per_month > 0 ? -log1p(-fmin(offer->interruptions_per_month, 0.999)) / HOURS_PER_MONTH
                                              : 0;
}

double breaker_watts(const Site *site) {
    double phases = site->breaker_phases == 3 ? sqrt(3) : 1;
    return BREAKER_SHARE * phases * site->breaker_volts * site->breaker_amperes;
}

static double units_per_usd(const Catalogue *catalogue, const char *name) {
    if (same_part_name(name, "USD")) return 1;
    const Currency *currency = part_find(catalogue, PART_CURRENCY, name);
    return currency ? currency->per_usd : 0;
}

double exchange_rate(const Catalogue *catalogue, const char *from, const char *to) {
    if (strcmp(from, to) == 0) return 1;
    double from_units = units_per_usd(catalogue, from), to_units = units_per_usd(catalogue, to);
    return from_units > 0 ? to_units / from_units : 0;
}

// ---- Required fields of a row.

void date_finish(const char *date, PartKind kind, const char *name, Where where, Problems *problems) {
    Date read;
    if (date && date_parse(date, &read)) return;
    problem_add(problems, where, "\"%s\" is no date of %s \"%s\"", date ? date : "", part_tables[kind].said, name);
    problem_hint(problems, "write the year, perhaps with month and day: \"2026-04\"");
}

// Nodes and GPUs by their names, however they were called.
static void find_machines(Arena *arena, const Catalogue *catalogue, Offer *offer, Where where, Problems *problems) {
    const char **names = ARENA_ARRAY(arena, const char *, offer->node_count);
    for (int i = 0; i < offer->node_count; i++) {
        const NodeType *node = find_node(arena, catalogue, offer->nodes[i], where, problems);
        names[i] = node ? node->name : offer->nodes[i];
    }
    offer->nodes = names;
    const Gpu *gpu = offer->gpu ? find_gpu(arena, catalogue, offer->gpu, where, problems) : NULL;
    if (gpu) offer->gpu = gpu->name;
}

void offer_finish(Arena *arena, const Catalogue *catalogue, Offer *offer, Where where, Problems *problems) {
    date_finish(offer->date, PART_PRICE, offer->name, where, problems);
    if ((offer->price_per_hour > 0) == (offer->price_per_month > 0)) {
        problem_add(problems, where, "price \"%s\" needs either price_per_hour or price_per_month", offer->name);
        problem_hint(problems, "and \"gpus\", for how many GPUs that is");
    }
    if ((offer->node_count > 0) == (offer->gpu != NULL)) {
        problem_add(problems, where, "price \"%s\" is either of nodes or of a gpu", offer->name);
        problem_hint(problems, "\"nodes\": [\"aws-p5.48xlarge\"], or \"gpu\": \"H100-SXM5-80GB\" for any machine");
    }
    find_machines(arena, catalogue, offer, where, problems);
    if (offer->currency && !units_per_usd(catalogue, offer->currency)) {
        problem_add(problems, where, "price \"%s\" is in \"%s\", whose rate nobody says", offer->name, offer->currency);
        problem_hint(problems, "add it to \"currencies\": { \"name\": \"EUR\", \"date\": …, \"per_usd\": … }");
    }
}

// ---- By name.

const Offer *find_offer(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    return find_part(arena, catalogue, PART_PRICE, name, where, problems);
}

const Grid *find_grid(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    return find_part(arena, catalogue, PART_GRID, name, where, problems);
}

const Site *find_site(Arena *arena, const Catalogue *catalogue, const char *name, Where where, Problems *problems) {
    return find_part(arena, catalogue, PART_SITE, name, where, problems);
}

// ---- Converts rows of a CSV file to offers and rates.

typedef struct Column {
    const char *word;
    bool is_needed; // in the header and in every row
} Column;

enum {
    PROVIDER,
    DATE,
    SOURCE,
    NODE,
    GPU,
    GPUS,
    CURRENCY,
    REGION,
    STORAGE,
    EGRESS,
    INTERRUPTIONS,
    PER_USD,
    FIRST_TERMS,
    COLUMN_COUNT = FIRST_TERMS + TERMS_COUNT
};

static const Column columns[FIRST_TERMS] = {
    [PROVIDER] = {"provider", true},
    [DATE] = {"date", true},
    [SOURCE] = {"source", true},
    [NODE] = {"node", false},
    [GPU] = {"gpu", false},
    [GPUS] = {"gpus", false},
    [CURRENCY] = {"currency", false},
    [REGION] = {"region", false},
    [STORAGE] = {"storage_per_gb_month", false},
    [EGRESS] = {"egress_per_gb", false},
    [INTERRUPTIONS] = {"interruptions_per_month", false},
    [PER_USD] = {"per_usd", false},
};

typedef struct Book {
    Arena *arena;
    const Catalogue *base;
    const Csv *csv;
    Problems *problems;
    int column[COLUMN_COUNT]; // of the file; -1: it has none
    Catalogue *into;
    LIST_OF(Offer) offers;
    LIST_OF(Currency) currencies;
    NameIndex *currency_names;
} Book;

static const char *word_of(int column) {
    return column < FIRST_TERMS ? columns[column].word : terms_names[column - FIRST_TERMS];
}

static const char *cell(const Book *book, int row, int column) {
    return book->column[column] < 0 ? "" : csv_cell(book->csv, row, book->column[column]);
}

static bool says(const Book *book, int row, int column) { return cell(book, row, column)[0] != '\0'; }

// 0 where the cell is empty, or after a problem with its column.
static double amount(const Book *book, int row, int column) {
    return says(book, row, column) ? csv_positive(book->csv, row, book->column[column], book->problems) : 0;
}

// ---- The header.

static void find_columns(Book *book) {
    const Csv *csv = book->csv;
    const char *known[COLUMN_COUNT];
    for (int c = 0; c < COLUMN_COUNT; c++) {
        known[c] = word_of(c);
        book->column[c] = -1;
    }
    for (int i = 0; i < csv->column_count; i++) {
        int at = 0;
        while (at < COLUMN_COUNT && strcmp(known[at], csv->columns[i]) != 0) at++;
        if (at < COLUMN_COUNT) {
            book->column[at] = i;
            continue;
        }
        problem_add(book->problems, (Where){csv->file, 1}, "a price book has no column \"%s\"", csv->columns[i]);
        problem_hint_names(book->problems, csv->columns[i], known, COLUMN_COUNT);
    }
    for (int c = 0; c < FIRST_TERMS; c++) {
        if (!columns[c].is_needed || book->column[c] >= 0) continue;
        problem_add(book->problems, (Where){csv->file, 1}, "the column \"%s\" is missing", columns[c].word);
        problem_hint(book->problems, "each price says whose it is, of when, and from where");
    }
}

// ---- Rows.

static bool check_needed(const Book *book, int row) {
    bool sound = true;
    for (int c = 0; c < FIRST_TERMS; c++) {
        if (!columns[c].is_needed || says(book, row, c)) continue;
        problem_add(book->problems, csv_where(book->csv, row), "%s is empty", columns[c].word);
        problem_hint(book->problems, "each price says whose it is, of when, and from where");
        sound = false;
    }
    Date date;
    const char *text = cell(book, row, DATE);
    if (!*text || date_parse(text, &date)) return sound;
    problem_add(book->problems, csv_where(book->csv, row), "date: \"%s\" is no date", text);
    return problem_hint(book->problems, "write the year, perhaps with month and day: 2026-04");
}

static const Fact *fact_of(const Book *book, int row, const char *name, double value, int column) {
    Fact *fact = ARENA_NEW(book->arena, Fact);
    *fact = (Fact){.name = name,
                   .text = cell(book, row, column),
                   .value = value,
                   .unit = "",
                   .source = cell(book, row, SOURCE),
                   .kind = FACT_DATASHEET,
                   .where = csv_where(book->csv, row)};
    return fact;
}

static const Currency *currency_called(const Book *book, const char *name) {
    int own = name_index_find(book->currency_names, name);
    return own >= 0 ? &book->currencies.items[own] : part_find(book->base, PART_CURRENCY, name);
}

static void read_rate(Book *book, int row) {
    Currency currency = {.name = cell(book, row, CURRENCY), .date = cell(book, row, DATE), .fact_count = 1};
    currency.title = currency.name;
    currency.per_usd = amount(book, row, PER_USD);
    currency.facts = fact_of(book, row, "per_usd", currency.per_usd, PER_USD);
    if (!currency.name[0]) {
        problem_add(book->problems, csv_where(book->csv, row), "per_usd: of which currency?");
        problem_hint(book->problems, "say it in the column \"currency\"");
    }
    name_index_add(book->currency_names, currency.name, book->currencies.count);
    LIST_PUSH(book->arena, &book->currencies, currency);
}

// The machine or the GPU that a row is of; false after a problem.
static bool read_machine(const Book *book, int row, Offer *offer) {
    Where where = csv_where(book->csv, row);
    const char *node = cell(book, row, NODE), *gpu = cell(book, row, GPU);
    if (!*node == !*gpu) {
        problem_add(book->problems, where, "a price is either of a node or of a gpu");
        return problem_hint(book->problems,
                            "fill one of these two columns: dgx-h100, or H100 for any machine with such");
    }
    if (*gpu) {
        const Gpu *found = find_gpu(book->arena, book->base, gpu, where, book->problems);
        offer->gpu = found ? found->name : NULL;
        offer->gpus = 1;
        return found;
    }
    const NodeType *found = find_node(book->arena, book->base, node, where, book->problems);
    const char **names = ARENA_ARRAY(book->arena, const char *, 1);
    names[0] = found ? found->name : node;
    offer->nodes = names;
    offer->node_count = 1;
    offer->gpus = found ? found->gpu_count : 1;
    return found;
}

static void read_gpus(const Book *book, int row, Offer *offer) {
    double gpus = amount(book, row, GPUS);
    if (gpus == 0) return;
    offer->gpus = (int)gpus;
    if (gpus <= 1e5 && gpus == offer->gpus) return;
    problem_add(book->problems, csv_where(book->csv, row), "gpus: %s is no number of GPUs", cell(book, row, GPUS));
    problem_hint(book->problems, "a whole number from 1 to 100,000");
}

static void add_offer(Book *book, int row, const Offer *common, Terms terms) {
    int column = FIRST_TERMS + (int)terms;
    if (!says(book, row, column)) return;
    Offer offer = *common;
    double price = amount(book, row, column);
    offer.terms = terms;
    offer.name = arena_printf(book->arena, "book-%d-%s", book->csv->lines[row], terms_names[terms]);
    offer.title = arena_printf(book->arena, "%s of %s, %s, line %d of %s", offer.gpu ? offer.gpu : offer.nodes[0],
                               offer.provider, terms_titles[terms], book->csv->lines[row], book->csv->file);
    bool by_month = terms == TERMS_MONTHLY;
    offer.price_per_month = by_month ? price : 0;
    offer.price_per_hour = by_month ? 0 : price;
    offer.facts = fact_of(book, row, by_month ? "price_per_month" : "price_per_hour", price, column);
    offer.fact_count = 1;
    LIST_PUSH(book->arena, &book->offers, offer);
}

static void read_prices(Book *book, int row) {
    const char *region = cell(book, row, REGION), *currency = cell(book, row, CURRENCY);
    Offer common = {.provider = cell(book, row, PROVIDER),
                    .region = *region ? region : NULL,
                    .is_own_book = true,
                    .currency = *currency ? currency : "USD",
                    .date = cell(book, row, DATE),
                    .storage_per_gb_month = amount(book, row, STORAGE),
                    .egress_per_gigabyte = amount(book, row, EGRESS),
                    .interruptions_per_month = amount(book, row, INTERRUPTIONS)};
    if (!read_machine(book, row, &common)) return;
    read_gpus(book, row, &common);
    if (!currency_called(book, common.currency)) {
        problem_add(book->problems, csv_where(book->csv, row), "currency: nobody says the rate of \"%s\"",
                    common.currency);
        problem_hint(book->problems,
                     "give it in a row above, in the column per_usd; or see: lockstep hw list currency");
    }
    int before = book->offers.count;
    for (int terms = 0; terms < TERMS_COUNT; terms++) add_offer(book, row, &common, (Terms)terms);
    if (book->offers.count > before) return;
    problem_add(book->problems, csv_where(book->csv, row), "this row has no price");
    problem_hint(book->problems, "in one of the columns on_demand, reserved_1y, reserved_3y, spot, monthly, block");
}

// ---- The whole.

static void join_offers(const Book *book, Catalogue *into) {
    int count = book->offers.count + book->base->offer_count;
    Offer *offers = ARENA_ARRAY(book->arena, Offer, count);
    for (int i = 0; i < book->offers.count; i++) offers[i] = book->offers.items[i];
    for (int i = 0; i < book->base->offer_count; i++) offers[book->offers.count + i] = book->base->offers[i];
    into->offers = offers;
    into->offer_count = count;
}

// A rate of the book takes the place of the catalogue's.
static void join_currencies(const Book *book, Catalogue *into) {
    Currency *all = ARENA_ARRAY(book->arena, Currency, book->currencies.count + book->base->currency_count);
    int count = 0;
    for (int i = 0; i < book->currencies.count; i++) all[count++] = book->currencies.items[i];
    for (int i = 0; i < book->base->currency_count; i++) {
        const Currency *known = &book->base->currencies[i];
        if (name_index_find(book->currency_names, known->name) < 0) all[count++] = *known;
    }
    into->currencies = all;
    into->currency_count = count;
}

const Catalogue *catalogue_with_prices(Arena *arena, const Catalogue *base, const char *path, Problems *problems) {
    if (!path || !base) return base;
    int before = problems_added(problems);
    Book book = {.arena = arena, .base = base, .problems = problems, .csv = csv_read_file(arena, path, problems)};
    if (!book.csv) return NULL;
    book.currency_names = name_index_create(arena, part_name_order);
    find_columns(&book);
    for (int row = 0; row < book.csv->row_count && problems_added(problems) == before; row++)
        if (says(&book, row, PER_USD) && check_needed(&book, row)) read_rate(&book, row);
    for (int row = 0; row < book.csv->row_count && book.column[PROVIDER] >= 0; row++)
        if (!says(&book, row, PER_USD) && check_needed(&book, row)) read_prices(&book, row);
    if (problems_added(problems) > before) return NULL;
    Catalogue *into = ARENA_NEW(arena, Catalogue);
    *into = *base;
    join_offers(&book, into);
    join_currencies(&book, into);
    PartIndexes *indexes = ARENA_NEW(arena, PartIndexes);
    *indexes = *base->indexes;
    indexes->arena = arena;
    indexes->of[PART_PRICE] = part_index_of(arena, PART_PRICE, into->offers, into->offer_count);
    indexes->of[PART_CURRENCY] = part_index_of(arena, PART_CURRENCY, into->currencies, into->currency_count);
    into->indexes = indexes;
    return into;
}
