/* Writes the trace of some_trace.h to the file that its argument names: a C99 program, compiled with pedantic warnings. */
#include "tests/import/some_trace.h"

int main(int count, char** words) {
  const char* error;
  if (count != 2) {
    return 2;
  }
  if (write_some_trace(words[1], &error) != 0) {
    fprintf(stderr, "%s\n", error);
    return 1;
  }
  return 0;
}
