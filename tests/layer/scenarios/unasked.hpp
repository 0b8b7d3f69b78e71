// Programs that do what few do, and what must be as without a layer nonetheless.
#pragma once

namespace scenario {

/// Asks for functions of extensions that it did not enable, and calls those of VK_EXT_debug_utils that it gets, as
/// widespread sample frameworks do. tracing: on a device with ray tracing.
void unasked(bool tracing);

/// Closes its standard descriptors and tries to use them at every step.
void without_standard_descriptors();

}  // namespace scenario
