return require "circle_a"
