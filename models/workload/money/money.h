// Cost, power and emissions of a cluster: rented by the price book, or owned. One call answers:
//
//     ActivityMix mix = activity_of_step(spent);                    what its GPUs do in a step
//     ClusterBill bill = cluster_bill(arena, cluster, &mix);        per hour, with the parts it is made of
//     double cost = bill_of_run(&bill, hours);                      minimum billing and transfers counted in
#pragma once

#include "models/hardware/market.h"
#include "models/workload/cluster/cluster.h"
#include "models/workload/cluster/cluster_money.h"
#include "models/workload/cost/cost.h"
#include "sim/data/record.h"

// ---- Power of a whole cluster.

typedef struct ClusterPower {
    double node_watts, network_watts; // machines, switches and optics, while the job runs
    double idle_watts;                // the same without a job
    double peak_watts;                // at most
    double power_usage_effectiveness; // what the wall gives for each of these watts
    double node_peak_watts;           // of the largest node
    double rack_watts, breaker_watts; // that one may carry; 0: no racks
    int nodes_per_rack;               // of the largest
    int racks, breakers;              // breakers: on all feeds together
    bool node_exceeds_rack, node_exceeds_breaker;
} ClusterPower;

ActivityMix activity_of_step(const double spent[CAUSE_COUNT]);
ClusterPower cluster_power(const Cluster *cluster, const ActivityMix *mix);
double power_at_wall(const ClusterPower *power);      // watts while the job runs
double idle_power_at_wall(const ClusterPower *power); // while none does
double peak_power_at_wall(const ClusterPower *power);

// ---- Owning.

typedef struct CapitalLine {
    const char *name, *title; // "nodes"
    double count, unit_price, amount;
    double years, residual_share; // of depreciation, and the residual value
    bool is_machine;              // needs maintenance
} CapitalLine;

#define CAPITAL_LINES 8
typedef struct OwnCost {
    CapitalLine capital[CAPITAL_LINES];
    int capital_count;
    double capital_amount;    // all of it
    double capital_per_year;  // annuity, less what the machines are sold for
    double straight_per_year; // the same without interest
    double maintenance_per_year, staff_per_year, colocation_per_year, idle_energy_per_year;
    double fixed_per_year;  // all of these: to be paid whether or not jobs run
    double energy_per_hour; // of a job, beyond what idle machines draw
    double utilisation, interest, years;
} OwnCost;

OwnCost own_cost(const Cluster *cluster, const ClusterPower *power);
// Of an hour in which a job runs: fixed_per_year / (8,760 utilisation) + energy_per_hour.
double own_cost_per_hour(const OwnCost *cost, double utilisation);

// amount r (1 + r)^n / ((1 + r)^n - 1), less the part of that which the sale brings back; amount / n without interest.
double annuity(double amount, double residual_share, double interest, double years);
// Months until what renting would have cost has paid for the capital; INFINITY: never.
double payback_months(double capital, double saved_per_month, double interest);
// As much used either way. To pay back is what is bought less what it is sold for, as in capital_per_year, so what is
// cheaper to own has paid for itself within its life.
double own_payback_months(const OwnCost *cost, double rent_per_hour);
// Utilisation from which owning is cheaper than renting at that hourly rent; INFINITY: at none, even above 1.
double break_even_utilisation(const OwnCost *cost, double rent_per_hour);

// ---- The bill.

typedef struct ClusterBill {
    bool known; // false: the price is unknown, and all amounts are NAN
    bool owned;
    const char *currency; // never NULL
    double per_hour;      // of an hour in which a job runs, for the whole cluster
    double per_month;     // of a month in which jobs run as much as they do here: all hours, or an owner's utilisation
    const NamedValue *lines; // its parts; they sum to per_hour
    int line_count;
    // Of an hour at the cheapest of the providers that the rent is the median of, and at the dearest; else per_hour.
    double least_per_hour, most_per_hour;
    double log_sigma;                                             // sd of the log of the rent between them
    double once;                                                  // added to each run: data carried out
    double rent_per_hour, break_even_utilisation, payback_months; // owned, where a rent is named too; else NAN
    double capital;                                               // owned: all that is bought; else 0
    double minimum_hours, step_hours;                             // of rent
    double term_hours;             // reserved: paid for whole ones, used or not; 0: by the hour
    double interruptions_per_hour; // spot: of one machine
    double wall_watts, peak_wall_watts;
    double carbon_kg_per_hour;
    const DatedPrice *prices; // used for it
    int price_count;
} ClusterBill;

// Cost per hour of `units` units of storage in addition to the cluster, in its currency, with support and tax. 0: the
// price of a unit is unknown, it is paid elsewhere (--without storage), or bought with the cluster. NAN: the currency
// has no rate.
double storage_bill_per_hour(const Cluster *cluster, const StorageType *unit, double units);

ClusterBill cluster_bill(Arena *arena, const Cluster *cluster, const ActivityMix *mix);
// What a run costs. A reservation is paid for whole terms, whether or not a job runs: a run of H hours on terms of T
// costs that of T ceil(H / T), for that is what is signed for it. bill_unused_of_run: the part of it that is no run's.
double bill_of_run(const ClusterBill *bill, double hours);
double bill_unused_of_run(const ClusterBill *bill, double hours);
double bill_whole_terms(double hours, double term_hours); // in hours, at least one term; 0: as many as they are
