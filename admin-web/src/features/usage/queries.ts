import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import type { Estimate, Usage } from "../../api/types.ts";
import { withQuery } from "../../lib/urls.ts";

type Report = { readonly group: string; readonly from: string | undefined };

const path = ({ group, from }: Report, form?: "csv") =>
  withQuery("/v1/usage", { group_by: group, from, format: form });

export const usageQuery = (report: Report) =>
  queryOptions({
    queryKey: ["usage", "report", report],
    queryFn: ({ signal }) => api.get<Usage>(path(report), signal),
    placeholderData: keepPreviousData,
  });

/** The same figures for a spreadsheet; the browser fetches it by the link. */
export const csvPath = (report: Report): string => path(report, "csv");

export const estimatesQuery = (from: string | undefined) =>
  queryOptions({
    queryKey: ["usage", "estimates", from],
    queryFn: async ({ signal }) =>
      (await api.get<{ items: Estimate[] }>(withQuery("/v1/usage/estimates", { from }), signal))
        .items,
  });
