import type { z } from "zod";

/** What a route answers where nothing stands against it. */
export interface DescribedAnswer {
  readonly status: number;
  /** Of JSON. */
  readonly schema?: z.ZodType;
  /** Of anything else, or beside JSON where a caller may ask for a stream. */
  readonly media?: string;
}

/** What the document of the runtime plane says of a route. */
export interface DescribedRoute {
  readonly tag: string;
  readonly summary: string;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Headers that it cannot do without. */
  readonly headers?: readonly string[];
  /** A form instead of JSON. */
  readonly form?: true;
  readonly answer: DescribedAnswer;
  readonly error: z.ZodType;
}
