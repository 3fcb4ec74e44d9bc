import { QueryClient } from "@tanstack/react-query";
import { isPassing } from "../api/problem.ts";

const MOST_RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      // What the server refused, it refuses again.
      retry: (failures, error) => failures < MOST_RETRIES && isPassing(error),
    },
  },
});
