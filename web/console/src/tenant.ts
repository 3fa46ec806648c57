import { useSearch } from "@tanstack/react-router";

/** The tenant in the URL; undefined if there is none. */
export function useTenant(): string | undefined {
  return (useSearch({ strict: false }) as { tenant?: string }).tenant;
}
