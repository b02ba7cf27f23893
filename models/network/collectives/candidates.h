// Candidate ways to run a collective on a back end, each with its latency and traffic. Private to this folder.
#pragma once

#include "models/network/loads.h"

#define CANDIDATE_LIMIT 12

typedef struct Candidate {
    const char *algorithm;
    Protocol protocol;
    int channels;
    double latency;                     // seconds
    double hidden;                      // seconds of steps that pass while bytes move: the root of both squares counts
    double believed;                    // seconds by which the candidate is chosen; 0: its own time
    double inside, between;             // bytes on the wire per byte of payload, for a load of 1
    double believed_between;            // value of `between` for the choice; 0: the same
    double posting;                     // seconds that proxies post messages, which likewise hide
    double launch;                      // seconds of launching that hide behind the rest; the longer of both counts
    double inside_limit, between_limit; // bytes per second of the pattern that software moves at most; 0 no limit
    bool limits_add;                    // what counts for both is the GPU's one way to the root complex
} Candidate;

int nccl_candidates(const Group *group, const CollectiveRequest *request, Candidate *candidates);
int host_candidates(const Group *group, Backend backend, CollectiveOp op, double bytes, Candidate *candidates);

// Steps that double until they reach the number: 0 for 1, 3 for 5 to 8.
int log2_up(int number);

// ---- Parts of NCCL's times shared by its algorithms (nccl.c) and its messages.

double nccl_constant(const Group *group, int id);
bool nccl_rule(const Group *group, RuleId rule); // whether it holds; always but in --rules
// 0 to Volta, 1 Ampere, 2 Hopper and Ada, 3 Blackwell; and which of two ages that is, where no more is known.
int nccl_generation(const Group *group);

bool nccl_protocol_allowed(const Group *group, Protocol protocol);
// Share of the links' rate that is payload.
double nccl_inside_share(const Group *group, Protocol protocol);
double nccl_between_share(const Group *group, Protocol protocol);
double nccl_tree_network_share(const Group *group); // and of that what a tree attains between nodes
double nccl_nvlink_rate(const Group *group);        // bytes per second
int nccl_channels_used(const Group *group, Protocol protocol, bool ring, double bytes);

// ---- Seconds.
double nccl_hop_inside(const Group *group, Protocol protocol, int channels);
bool nccl_hops_hide(const Group *group); // within a node, behind the bytes of the same steps
// `message` is what one channel sends at a time, of payload.
double nccl_hop_between(const Group *group, Protocol protocol, int channels, double message);
// Proxy time of a ring that nothing else hides; `message` as above.
double nccl_posting_seconds(const Group *group, Protocol protocol, int steps, double message);
double nccl_fill_seconds(const Group *group, Protocol protocol, double bytes);
double nccl_floor_seconds(const Group *group);
double nccl_floor_between_seconds(const Group *group);

double nccl_peer_share(const Group *group); // of raw, GPU to GPU over PCIe
double nccl_transport_share(const Group *group);

// `inside` and `between` are what the busiest GPU sends per byte of the pattern, to GPUs of its node and beyond.
void nccl_limit_software(const Group *group, double directions, double inside, double between, Candidate *candidate);

// Grouped sends and receives (nccl_steps.c).
Candidate nccl_direct_candidate(const Group *group, CollectiveOp op, bool shift, double bytes);
