// As library.hpp, for the rayreplay command.
#pragma once

#include "cmake/pch/library.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
