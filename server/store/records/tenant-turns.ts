/** How many are wanted: in all, and of one tenant with those that are under way. */
export interface TenantTurns {
  readonly most: number;
  readonly mostOfOne: number;
  readonly underWay: ReadonlyMap<string, number>;
}
