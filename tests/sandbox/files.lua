-- Every field that takes a file: places outside, links, pipes, devices, folders, sizes, names.
--! a module above => 4 "cannot be the name of a module"
require "../outside/secret"
--! a module at the root => 4 "cannot be the name of a module"
require "/etc/passwd"
--! a module through dots => 4 "cannot be the name of a module"
require "..outside.secret"
--! a module through a link => 4 "no module"
require "link.secret"
--! a module that is a link => 4 "no module"
require "link_out"
--! a module that is a pipe => 4 "no module"
require "pipe"
--! a module that is a folder => 4 "no module"
require "folder"
--! a module of zeros => 4 "no module"
require "zeros"
--! a module behind a NUL => 4 "cannot be the name of a module"
require "module\0../../etc/passwd"
--! a module by another separator => 4 "cannot be the name of a module"
require "lib\\module"
--! a module with an escape => 4 "cannot be the name of a module"
require "\27[31mmodule"
--! a module that is no text => 4 "binary chunk"
require "binary"
--! a model's file at the root => 4 "s.lua:2: error:"
sim.model.hf "/etc/passwd"
--! a model's file above => 4 "s.lua:2: error:"
sim.model.hf "../outside/secret.json"
--! a model's file above, by way of a folder => 4 "s.lua:2: error:"
sim.model.hf "folder/../../outside/secret.json"
--! a model's file through a link => 4 "s.lua:2: error:"
sim.model.hf "link.json"
--! a model's file in a linked folder => 4 "s.lua:2: error:"
sim.model.hf "link/secret.json"
--! a model's file that is a pipe => 4 "s.lua:2: error:"
sim.model.hf "pipe.json"
--! a model's file that is a folder => 4 "error:"
sim.model.hf "folder"
--! a model's file of zeros => 4 "s.lua:2: error:"
sim.model.hf "zeros.json"
--! a model's file that is huge => 4 "error:"
sim.model.hf "huge.json"
--! a model's file that is a device => 4 "s.lua:2: error:"
sim.model.hf "/dev/zero"
--! a model's file that is the terminal => 4 "s.lua:2: error:"
sim.model.hf "/dev/tty"
--! a model's file that is standard input => 4 "s.lua:2: error:"
sim.model.hf "/dev/stdin"
--! a model's file that is the environment => 4 "s.lua:2: error:"
sim.model.hf "/proc/self/environ"
--! a model's file that is a link to the environment => 4 "s.lua:2: error:"
sim.model.hf "environment.json"
--! a model's file that is a circle of links => 4 "s.lua:2: error:"
sim.model.hf "circle.json"
--! a model's file behind a NUL => 4 "error:"
sim.model.hf "config.json\0/etc/passwd"
--! a model's file at an address => 4 "s.lua:2: error:"
sim.model.hf "http://localhost/config.json"
--! a model's file as an address of a file => 4 "s.lua:2: error:"
sim.model.hf "file:///etc/passwd"
--! a model's file at home => 4 "s.lua:2: error:"
sim.model.hf "~/.ssh/id_rsa"
--! a model's file by a variable => 4 "s.lua:2: error:"
sim.model.hf "$HOME/.ssh/id_rsa"
--! a model's file by a command => 4 "s.lua:2: error:"
sim.model.hf "|cat /etc/passwd"
--! a model's file with a very long name => 4 "s.lua:2: error:"
sim.model.hf(("x"):rep(10000))
--! a model's file without a name => 4 "error:"
sim.model.hf ""
--! a model's file with an escape in its name => 4 "s.lua:2: error:"
sim.model.hf "\27]0;title\7.json"
--! a model's file that is no text => 4 "error:"
sim.model.hf {}
--! a node's file at the root => 4 "error:"
sim.node { file = "/etc/passwd", gpu = "A100" }
--! a node's file above => 4 "error:"
sim.node { file = "../outside/secret.json", gpu = "A100" }
--! a node's file through a link => 4 "error:"
sim.node { file = "link.json", gpu = "A100" }
--! a node's file that is a pipe => 4 "error:"
sim.node { file = "pipe.json", gpu = "A100" }
--! a node's file of zeros => 4 "error:"
sim.node { file = "zeros.json", gpu = "A100" }
--! a node's file that is the environment => 4 "error:"
sim.node { file = "/proc/self/environ", gpu = "A100" }
--! a node's XML that asks for another file => 4 "error:"
sim.node { file = "entity.xml", gpu = "A100" }
--! a node's XML that grows => 4 "error:"
sim.node { file = "laughs.xml", gpu = "A100" }
--! a node that is named after a file => 4 "error:"
sim.cluster { node = "/etc/passwd" }
--! a fabric's file at the root => 4 "error:"
cluster { gpus = 16, fabric = "ib-ndr400:/etc/passwd" }
--! a fabric's file at the root, as JSON => 4 "error:"
cluster { gpus = 16, fabric = "ib-ndr400:/etc/x.json" }
--! a fabric's file above => 4 "error:"
cluster { gpus = 16, fabric = "ib-ndr400:../outside/secret.json" }
--! a fabric's file through a link => 4 "error:"
cluster { gpus = 16, fabric = "ib-ndr400:link.json" }
--! a fabric's file that is a pipe => 4 "error:"
cluster { gpus = 16, fabric = "ib-ndr400:pipe.json" }
--! a fabric's file of zeros => 4 "error:"
cluster { gpus = 16, fabric = "ib-ndr400:zeros.json" }
--! a fabric's file of the environment => 4 "error:"
cluster { gpus = 16, fabric = "ib-ndr400:environment.json" }
--! a fabric's file that varies => 4 "error:"
return sim.study { on = cluster { fabric = "ib-ndr400" }, run = job(), vary = { fabric = { "ib-ndr400:../outside/secret.json" } } }
--! a trace at the root => 4 "error:"
return sim.queue { on = cluster {}, trace = "/etc/passwd" }
--! a trace above => 4 "error:"
return sim.queue { on = cluster {}, trace = "../outside/secret.csv" }
--! a trace through a link => 4 "error:"
return sim.queue { on = cluster {}, trace = "link.json" }
--! a trace that is a pipe => 4 "error:"
return sim.queue { on = cluster {}, trace = "pipe.json" }
--! a trace of zeros => 4 "error:"
return sim.queue { on = cluster {}, trace = "zeros.json" }
--! a model by a path => 4 "error:"
sim.training { model = "../outside/secret.json" }
--! a part by a path => 4 "error:"
sim.hw "../outside/secret.json"
--! a file that the command line names for the script => 4 "error:" [--set fabric.link=../outside/secret.json]
cluster { gpus = 16, fabric = sim.fat_tree { link = "ib-ndr400" } }
--! deep JSON => 4 "error:"
sim.model.hf "deep.json"
--! JSON that is cut => 4 "error:"
sim.model.hf "cut.json"
