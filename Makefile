# lockstep: build, test, look after.   make help
CC ?= cc
PREFIX ?= /usr/local
BUILD ?= build
CFLAGS ?= -O2 -g
PACKAGES = gsl lua5.4 libcjson
WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wwrite-strings -Werror=implicit-function-declaration
ALL_CFLAGS = -std=c17 -D_GNU_SOURCE -ffp-contract=off -fno-math-errno -I. $(WARNINGS) $(CFLAGS) $(shell pkg-config --cflags $(PACKAGES))
LIBS = $(shell pkg-config --libs $(PACKAGES)) -lm

FOLDERS = sim models/hardware models/network models/workload scenarios calibrate results
SOURCES = $(sort $(wildcard $(addsuffix /*.c,$(FOLDERS))))
OBJECTS = $(SOURCES:%.c=$(BUILD)/%.o)
TEST_SOURCES = $(sort $(wildcard tests/*.c))
TEST_OBJECTS = $(TEST_SOURCES:%.c=$(BUILD)/%.o)

all: $(BUILD)/lockstep

$(BUILD)/lockstep: $(BUILD)/main.o $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/tests/run: $(TEST_OBJECTS) $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

check: $(BUILD)/tests/run $(BUILD)/lockstep
	LOCKSTEP=$(BUILD)/lockstep $(BUILD)/tests/run

clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all check clean
