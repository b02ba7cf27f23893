return require "circle_b"
