/** How many items to take: in total, and per tenant including those already in progress. */
export interface TenantTurns {
  readonly most: number;
  readonly mostOfOne: number;
  readonly underWay: ReadonlyMap<string, number>;
}
