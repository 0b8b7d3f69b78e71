// A target needs a source to hold a precompiled header for others.
