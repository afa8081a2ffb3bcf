/* export.h - visibility of the public symbols. SPDX-License-Identifier: BSD-3-Clause */
#ifndef TICKGAUGE_EXPORT_H
#define TICKGAUGE_EXPORT_H

#if defined(__GNUC__)
#define TG_API __attribute__((visibility("default")))
#else
#define TG_API
#endif

#endif
