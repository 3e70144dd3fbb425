// SPDX-License-Identifier: Apache-2.0
/*
 * yardstick_simdjson.cc - the rival: simdjson On-Demand walks three keys of every event, on one core.
 *
 *     bench_yardstick_simdjson FILE.json
 *
 * It reads ph, name and dur and keeps nothing but a sum and a count, which is far less than a store
 * needs; it is the fastest way known to merely see the events.
 */
#include <simdjson.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string_view>

int main(int argc, char **argv)
{
	if (argc != 2) {
		std::fputs("usage: bench_yardstick_simdjson FILE.json\n", stderr);
		return 2;
	}
	simdjson::ondemand::parser parser;
	auto text = simdjson::padded_string::load(argv[1]);
	if (text.error()) {
		std::fprintf(stderr, "bench_yardstick_simdjson: cannot read %s\n", argv[1]);
		return 1;
	}
	simdjson::ondemand::document document;
	if (parser.iterate(text).get(document))
		return 1;
	uint64_t n_events = 0, n_name_bytes = 0;
	double sum = 0;
	simdjson::ondemand::array events;
	if (document["traceEvents"].get_array().get(events))
		return 1;
	for (auto item : events) {
		simdjson::ondemand::object event;
		if (item.get_object().get(event))
			return 1;
		std::string_view view;
		double dur;
		if (!event.find_field_unordered("ph").get_string().get(view))
			n_events += view.size();
		if (!event.find_field_unordered("name").get_string().get(view))
			n_name_bytes += view.size();
		if (!event.find_field_unordered("dur").get_double().get(dur))
			sum += dur;
	}
	std::printf("%" PRIu64 " events, %" PRIu64 " name bytes, %.3f us\n", n_events, n_name_bytes, sum);
	return 0;
}
