"""Texts: prompt templates, replies, differences, overlap and sentence vectors."""
