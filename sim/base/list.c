// An AA tree (Andersson, Balanced search trees made simple, 1993).
#include "sim/base/list.h"

#include <string.h>

typedef struct Node {
    const char *name;
    int number, level;
    struct Node *left, *right;
} Node;

struct NameIndex {
    Arena *arena;
    NameOrder *order;
    Node *root, *found; // by the newest search that could add
};

NameIndex *name_index_create(Arena *arena, NameOrder *order) {
    NameIndex *index = ARENA_NEW(arena, NameIndex);
    *index = (NameIndex){.arena = arena, .order = order};
    return index;
}

int name_index_find(const NameIndex *index, const char *name) {
    const Node *node = index->root;
    while (node) {
        int order = index->order(name, node->name);
        if (order == 0) return node->number;
        node = order < 0 ? node->left : node->right;
    }
    return -1;
}

// A left child of the same level becomes the parent.
static Node *skew(Node *node) {
    Node *left = node->left;
    if (!left || left->level != node->level) return node;
    node->left = left->right;
    left->right = node;
    return left;
}

// Two right children of the same level: the middle one rises.
static Node *split(Node *node) {
    Node *right = node->right;
    if (!right || !right->right || right->right->level != node->level) return node;
    node->right = right->left;
    right->left = node;
    right->level++;
    return right;
}

static Node *put(NameIndex *index, Node *node, const char *name) {
    if (!node) {
        index->found = ARENA_NEW(index->arena, Node);
        *index->found = (Node){.name = name, .number = -1, .level = 1};
        return index->found;
    }
    int order = index->order(name, node->name);
    if (order == 0) {
        index->found = node;
        return node;
    }
    if (order < 0)
        node->left = put(index, node->left, name);
    else
        node->right = put(index, node->right, name);
    return split(skew(node));
}

int name_index_add(NameIndex *index, const char *name, int number) {
    index->root = put(index, index->root, name);
    int before = index->found->number;
    if (before < 0) index->found->number = number;
    return before;
}

void name_index_set(NameIndex *index, const char *name, int number) {
    index->root = put(index, index->root, name);
    index->found->number = number;
}

void names_add(Arena *arena, Names *names, const char *name) {
    for (int i = 0; i < names->count; i++)
        if (strcmp(names->items[i], name) == 0) return;
    LIST_PUSH(arena, names, name);
}
