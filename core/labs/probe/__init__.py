"""The Probe lab (FIND, Schwettmann et al. 2023): can an interpreter explain a black box whose truth we know?"""
