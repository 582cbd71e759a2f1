"""Site evidence and page evidence in one judgement: blocks, what the site says of them, boosted trees."""
