"""Paddle's own model files, in both directions.

    model.py     what the files have in common: operations by Paddle's names over numbered values
    (files)      `.pdmodel` (ProgramDesc), PIR `.json`, `.pdiparams`  <->  Model
    (reading)    Model -> Graph: one translator for each operation of Paddle's
    (writing)    Graph -> Model: one translator for each of our primitives

The two formats name operations and attributes differently; in a Model they have the names of the newer one (PIR).
"""
