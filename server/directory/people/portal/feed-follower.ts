/** An event, shared by all recipients of the same view. `resync`: something may have been missed. */
export interface FeedEvent {
  readonly name: "notification" | "alert" | "approval" | "resync";
  readonly data: unknown;
}

export interface FeedFollower {
  readonly tenantId: string;
  readonly userId: string;
  tell(event: FeedEvent): void;
  end(): void;
}
