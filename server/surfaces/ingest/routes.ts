import type { GovernedRoute } from "../../road/road-parts.ts";
import type { Surface } from "../../road/surface.ts";
import type { CollectorInlet } from "../../services/discovery/collector-inlet.ts";
import type { TraceIngest } from "../../services/ingest/trace-ingest.ts";
import { DISCOVERY_EVENTS_BYTES, discoveryEventsInlet } from "./discovery-events.ts";
import { otelTraces } from "./otel-traces.ts";

export interface IngestServices {
  readonly traces: TraceIngest;
  readonly collectors: CollectorInlet;
}

interface IngestRoute extends Omit<GovernedRoute, "surface"> {
  readonly method: "POST";
  readonly path: string;
  readonly surface: (services: IngestServices) => Surface;
}

/** All routes on which others report what they observed. */
export const INGEST_ROUTES: readonly IngestRoute[] = [
  {
    method: "POST",
    path: "/v1/ingest/otel/v1/traces",
    surface: ({ traces }) => otelTraces(traces),
    audit: { proxyType: "llm", proxySubtype: "otel_traces" },
    admits: "key",
    body: "may_be_gzip",
  },
  // A collector's credential is its signature, which is verified with the body.
  {
    method: "POST",
    path: "/v1/discovery/events",
    surface: ({ collectors }) => discoveryEventsInlet(collectors),
    audit: { proxyType: "llm", proxySubtype: "discovery_events" },
    body: true,
    admits: "key_or_none",
    maxBodyBytes: DISCOVERY_EVENTS_BYTES,
  },
];
