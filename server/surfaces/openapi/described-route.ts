import type { z } from "zod";

/** A route's successful response. */
export interface DescribedAnswer {
  readonly status: number;
  /** For JSON. */
  readonly schema?: z.ZodType;
  /** For any other content, or besides JSON if a caller may ask for a stream. */
  readonly media?: string;
}

/** The description of a route in the runtime plane's OpenAPI document. */
export interface DescribedRoute {
  readonly tag: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Required headers. */
  readonly headers?: readonly string[];
  readonly optionalHeaders?: readonly string[];
  /** The body is a form instead of JSON. */
  readonly form?: true;
  readonly answer: DescribedAnswer;
  readonly error: z.ZodType;
}
