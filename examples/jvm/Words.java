import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Counts words of made-up sentences, round after round, and keeps the latest rounds: short-lived and long-lived objects. */
public class Words {
	public static void main(String[] args) {
		int rounds = Integer.parseInt(args[0]);
		Random random = new Random(1);
		List<Map<String, Integer>> kept = new ArrayList<>();
		long sum = 0;
		for (int round = 0; round < rounds; round++) {
			Map<String, Integer> count = new HashMap<>();
			for (int i = 0; i < 4000; i++) {
				StringBuilder sentence = new StringBuilder();
				for (int w = 0; w < 12; w++) {
					sentence.append("word").append(random.nextInt(3000)).append(' ');
				}
				for (String word : sentence.toString().split(" ")) {
					count.merge(word, 1, Integer::sum);
				}
			}
			kept.add(count);
			if (kept.size() > 40) {
				kept.remove(0);
			}
			for (int n : count.values()) {
				sum += (long) n * n;
			}
		}
		System.out.println("sum " + sum);
	}
}
